/**
 * Foreign text (titles, bodies, reasons) on its way to a terminal: escape sequences and control characters lose their
 * power, everything readable stays. Nothing from outside reaches a terminal or run.log without passing here.
 */
const esc = String.fromCharCode(0x1b);
const bell = String.fromCharCode(0x07);
/** Colours and cursor moves, and titles or links; what is cut off in the middle is caught by the character rule. */
const sequences = new RegExp(`${esc}\\[[0-?]*[ -/]*[@-~]|${esc}[\\]PX^_][^${esc}${bell}]*(?:${bell}|${esc}\\\\)`, "g");
/** Controls, formatting that reorders or hides text, and separators that some programs take for line breaks. */
const unsafe = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/** One line. */
export function plainLine(text: string): string {
  return plainText(text)
    .replace(/\s*[\n\t]\s*/g, " ")
    .trim();
}

/** Several lines, tabs kept. */
export function plainText(text: string): string {
  return text.replace(sequences, "").replace(/\r\n?/g, "\n").replace(unsafe, shown);
}

/** A file's name on a line of its own: as it is, or where that would not be safe or plain to see quoted like git does it. */
export function shownName(name: string | Uint8Array): string {
  if (typeof name !== "string") return shownBytes(name);
  const shown = quoteName(name);
  return shown === name ? name : `"${shown}"`;
}

/** What is no UTF-8 as a whole is none of it. */
function shownBytes(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (!text.includes("\ufffd")) return shownName(text);
  return `"${[...bytes].map((byte) => (byte < 0x80 ? quoteName(String.fromCharCode(byte)) : octal(byte))).join("")}"`;
}

function quoteName(name: string): string {
  return name.replace(quotable, (character) => escapes.get(character) ?? octal(...new TextEncoder().encode(character)));
}

const quotable = new RegExp(`["\\\\]|${unsafe.source}`, "gu");
const escapes = new Map([
  ['"', '\\"'],
  ["\\", "\\\\"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);

function octal(...bytes: readonly number[]): string {
  return bytes.map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
}

function shown(character: string): string {
  if (character === "\n" || character === "\t") return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
