import { createHash } from "node:crypto";
import { readOptional, writeDurably } from "./files.js";

const headBytes = 2048;

/** A text with its beginning and where the whole of it is, once it is longer than `inlineBytes`. */
export interface KeptText {
  readonly text: string;
  readonly ref?: { readonly path: string; readonly bytes: number; readonly sha256: string };
}

/** Long texts are on the disk before anyone refers to them. The folder of `path` is there. */
export async function keepText(text: string, path: string, inlineBytes: number): Promise<KeptText> {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= inlineBytes) return { text };
  await writeDurably(path, bytes);
  // A cut character at the end decodes to a replacement, which is taken off.
  const head = bytes
    .subarray(0, headBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  return { text: head, ref: { path, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") } };
}

/** The same of several: the texts themselves lead to the whole of them. */
export async function readAllKept(texts: readonly KeptText[]): Promise<(text: KeptText) => string> {
  const whole = new Map(await Promise.all(texts.map(async (text) => [text, await readKept(text)] as const)));
  return (text) => whole.get(text) ?? text.text;
}

/** The whole of it. One whose file is gone is told by its beginning. */
export async function readKept({ text, ref }: KeptText): Promise<string> {
  return ref === undefined ? text : ((await readOptional(ref.path)) ?? text);
}
