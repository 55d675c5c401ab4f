import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainLine, plainText, shownName } from "./plain-text.js";

const esc = "\u001b";

describe("plainText", () => {
  it.each([
    ["colours", `${esc}[31mred${esc}[0m`, "red"],
    ["cursor moves", `a${esc}[2K${esc}[1Ab`, "ab"],
    ["a window title", `${esc}]0;pwned\u0007ok`, "ok"],
    ["a link", `${esc}]8;;http://x${esc}\\text${esc}]8;;${esc}\\`, "text"],
    ["a broken sequence", `a${esc}`, "a␛"],
    ["an unfinished title", `${esc}]0;never ends`, "␛]0;never ends"],
    ["bell, backspace and delete", "a\u0007\u0008\u007f", "a␇␈␡"],
    ["8-bit controls", "a\u009b31mb", "a\ufffd31mb"],
    ["text turned around", "a\u202eb", "a\ufffdb"],
    ["line ends of other systems", "a\r\nb\rc", "a\nb\nc"],
    ["what is harmless", "ünï 🦀 👩‍👩‍👧 `{}` $&\ttab", "ünï 🦀 👩‍👩‍👧 `{}` $&\ttab"],
  ])("neutralises %s", (_what, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  it("lets no control character through, whatever comes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(esc, "[", "]", "0", ";", "m", "\u0007", "\u009b", "a", "\r", "\n", "\\")),
        (parts) => {
          expect(plainText(parts.join(""))).not.toMatch(/(?![\n\t])\p{Cc}/u);
          expect(plainLine(parts.join(""))).not.toMatch(/\p{Cc}/u);
        },
      ),
    );
  });
});

describe("plainLine", () => {
  it("makes one line of several", () => {
    expect(plainLine("  a\n\n  b\tc\r\nd ")).toBe("a b c d");
  });
});

describe("shownName", () => {
  it.each([
    ["plain.js", "plain.js"],
    ["with a blank", "with a blank"],
    ["über/日本.txt", "über/日本.txt"],
    ["it's", "it's"],
    ['q"q', '"q\\"q"'],
    ["back\\slash", '"back\\\\slash"'],
    ["new\nline", '"new\\nline"'],
    ["tab\tx", '"tab\\tx"'],
    [`${esc}[31m\u0007`, '"\\033[31m\\007"'],
    ["\u009b31m\u202ecod", '"\\302\\23331m\\342\\200\\256cod"'],
  ])("shows %j", (name, expected) => {
    expect(shownName(name)).toBe(expected);
    expect(shownName(new TextEncoder().encode(name))).toBe(expected);
  });

  it.each([
    [[0x63, 0xe9, 0x2e], '"c\\351."'],
    [[0xc3, 0xa9, 0x22, 0xff, 0x0a], '"\\303\\251\\"\\377\\n"'],
  ])("shows each byte beyond ASCII of a name that is no UTF-8: %j", (bytes, expected) => {
    expect(shownName(Uint8Array.from(bytes))).toBe(expected);
  });
});
