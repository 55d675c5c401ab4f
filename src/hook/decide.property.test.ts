import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cpuTimer } from "../../test/cpu-timer.js";
import { decide } from "./decide.js";
import type { Place } from "./types.js";

const place: Place = { home: "/nowhere/home", tmp: "/nowhere/tmp", env: {}, ownsProcess: () => false };
const guard = { worktree: "/nowhere/wt", readOnly: false, writable: ["/nowhere/tmp"] };
const judge = (command: string, readOnly = false) =>
  decide({ ...guard, readOnly }, { kind: "shell", command, cwd: guard.worktree }, place);

const word = fc.constantFrom(
  "rm",
  "-rf",
  "/",
  "..",
  "a",
  "$x",
  "$(",
  ")",
  "`",
  '"',
  "'",
  "{a,b}",
  "{1..99}",
  "*",
  "~",
  "<<E\n",
  "E\n",
  "$((",
  "))",
  "\\",
);
const control = fc.constantFrom(
  ";",
  "&&",
  "||",
  "|",
  "&",
  "\n",
  "if",
  "then",
  "fi",
  "for",
  "in",
  "do",
  "done",
  "while",
  "case",
  "esac",
  "{",
  "}",
  "(",
  ")",
  "f()",
  ">",
  "<",
  "x=",
  "x+=a",
  "eval",
  "bash -c",
  "cd",
  "git",
  "find . -exec",
  "xargs",
  "sed",
  "awk",
  "[[",
  "]]",
);
const line = fc.array(
  fc.oneof(word, control, fc.string({ maxLength: 6 }), fc.string({ unit: "binary", maxLength: 3 })),
  { maxLength: 60 },
);

describe("the guard on any text", () => {
  it("always answers, and soon", () => {
    fc.assert(
      fc.property(line, fc.boolean(), fc.constantFrom(" ", ""), (words, readOnly, glue) => {
        const used = cpuTimer();
        expect(typeof judge(words.join(glue), readOnly).allow).toBe("boolean");
        expect(used()).toBeLessThan(3000);
      }),
      { numRuns: 1500 },
    );
  });

  it("refuses a forbidden command wherever it stands", () => {
    const inside = fc.constantFrom(
      (it: string) => `( ${it} )`,
      (it: string) => `{ ${it}; }`,
      (it: string) => `echo "$( ${it} )"`,
      (it: string) => `if true; then ${it}; fi`,
      (it: string) => `for i in 1 2; do ${it}; done`,
      (it: string) => `while read x; do ${it}; done`,
      (it: string) => `true && ${it}`,
      (it: string) => `false || ${it}`,
      (it: string) => `ls | ${it}`,
      (it: string) => `${it} &\nwait`,
      (it: string) => `f() { ${it}; }; f`,
      (it: string) => `case x in x) ${it};; esac`,
      (it: string) => `bash -c '${it.replaceAll("'", "'\\''")}'`,
      (it: string) => `eval '${it.replaceAll("'", "'\\''")}'`,
      (it: string) => `cat <(${it})`,
      (it: string) => `a=$( ${it} )`,
    );
    fc.assert(
      fc.property(
        fc.array(inside, { maxLength: 4 }),
        fc.constantFrom("rm -rf /etc", "git push", "echo x > /etc/x"),
        (wraps, bad) => {
          expect(judge(wraps.reduce<string>((text, wrap) => wrap(text), bad)).allow).toBe(false);
        },
      ),
      { numRuns: 600 },
    );
  });

  it.each([
    ["nested substitutions", `${"$(".repeat(3000)}ls${")".repeat(3000)}`],
    ["nested groups", `${"(".repeat(3000)}ls${")".repeat(3000)}`],
    ["nested loops", `${"while true; do ".repeat(40)}ls${"; done".repeat(40)}`],
    ["nested for loops", `${"for i in 1 2 3 4 5 6 7 8 9; do ".repeat(12)}ls${"; done".repeat(12)}`],
    ["nested ifs", `${"if true; then ".repeat(200)}ls${"; fi".repeat(200)}`],
    ["doubling", `x=aaaaaaaaaa;${"x=$x$x$x$x;".repeat(200)} cat $x`],
    ["a long pipe", Array.from({ length: 5000 }, () => "cat").join(" | ")],
    ["many words", `rm ${"a ".repeat(50_000)}`],
    ["braces", `rm ${"{a,b}".repeat(30)}`],
    ["a long pattern", `x=${"a".repeat(4000)}; echo \${x%${"*a".repeat(500)}b}`],
    ["a long sed script", `sed '${"s/a/b/;".repeat(5000)}' x`],
  ])("judges %s within its bounds", (_, text) => {
    const used = cpuTimer();
    expect(typeof judge(text).allow).toBe("boolean");
    expect(used()).toBeLessThan(5000);
  });

  it("takes time in proportion to the text", () => {
    const time = (lines: number) => {
      const text = `cat > src/a.ts <<'EOF'\n${"const a = 1;\n".repeat(lines)}EOF\n`;
      const used = cpuTimer();
      for (let round = 0; round < 20; round++) expect(judge(text).allow).toBe(true);
      return used();
    };
    time(100);
    expect(time(20_000)).toBeLessThan(2000 + 60 * time(1000));
  });
});
