import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { inlineTextBytes, type Text, type TextRef } from "../../core/finding.js";
import { codeOf } from "../../lib/errors.js";
import { writeDurably } from "../../lib/files.js";
import { stableText } from "../../workflow/machine/breaker.js";

/** A text and, where it is worth one, the file that has the whole of it. */
export interface StoredText {
  readonly text: Text;
  readonly file: TextRef | null;
}

export const nothing: StoredText = { text: { text: "" }, file: null };

/** Shorter ones are kept in the journal alone. */
const filedBytes = 512;
/** Of longer ones than a finding may have, the journal has this much. */
const beginningBytes = 128;

/** What a program has printed is on the disk already: it is referred to, never written again. */
export async function textOfFile(path: string): Promise<StoredText> {
  const bytes = await sizeOf(path);
  if (bytes === 0) return nothing;
  const hash = createHash("sha256");
  let head = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    if (head.length < inlineTextBytes) head = Buffer.concat([head, chunk]).subarray(0, inlineTextBytes);
  }
  return stored(head, { path, bytes, sha256: hash.digest("hex") });
}

/** The lines of a message. Where it is all that its program printed, that file is the one copy of it. */
export async function textOfLines(
  lines: AsyncIterable<string>,
  at: { readonly printed: string; readonly folder: string; readonly hear: (line: string) => void },
): Promise<StoredText> {
  const kept: string[] = [];
  for await (const line of lines) {
    at.hear(line);
    kept.push(line);
  }
  const bytes = Buffer.from(kept.join("\n"), "utf8");
  if (bytes.length <= filedBytes) return { text: { text: kept.join("\n") }, file: null };
  const printed = await textOfFile(at.printed);
  const own = [bytes, Buffer.concat([bytes, Buffer.from("\n")])].map(sha256);
  if (printed.file !== null && own.includes(printed.file.sha256)) return printed;
  const path = join(at.folder, "reply.md");
  await writeDurably(path, bytes);
  return stored(bytes.subarray(0, inlineTextBytes), { path, bytes: bytes.length, sha256: sha256(bytes) });
}

function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Of what is in a file the journal has the beginning: it is written with the step, and once more with a finding. */
function stored(head: Buffer, file: TextRef): StoredText {
  if (file.bytes <= filedBytes) return { text: { text: head.toString("utf8") }, file: null };
  if (file.bytes <= inlineTextBytes) return { text: { text: head.toString("utf8") }, file };
  // A character that was cut at the end decodes to a replacement, which is taken off.
  const text = head
    .subarray(0, beginningBytes)
    .toString("utf8")
    .replace(/\ufffd+$/, "");
  return { text: { text, ref: file }, file };
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return 0;
    throw error;
  }
}

/** A reply with what the result file adds to it. */
export async function withRemarks(reply: StoredText, remarks: string, folder: string): Promise<StoredText> {
  if (remarks === "") return reply;
  const said = (await wholeText(reply.text)).trimEnd();
  const bytes = Buffer.from(said === "" ? remarks : `${said}\n\n${remarks}`, "utf8");
  const path = join(folder, "review.md");
  await writeDurably(path, bytes);
  return stored(bytes.subarray(0, inlineTextBytes), { path, bytes: bytes.length, sha256: sha256(bytes) });
}

/** Where a secret is in it, the file that has the whole is another one: what the program wrote itself stays as it is. */
export async function withoutSecrets(
  said: StoredText,
  { redact, folder }: { readonly redact: (text: string) => string; readonly folder: string },
): Promise<StoredText> {
  const whole = said.file === null ? said.text.text : await readFile(said.file.path, "utf8");
  const safe = redact(whole);
  if (safe === whole) return said;
  const bytes = Buffer.from(safe, "utf8");
  const path = join(folder, "redacted.md");
  await writeDurably(path, bytes);
  return stored(bytes.subarray(0, inlineTextBytes), { path, bytes: bytes.length, sha256: sha256(bytes) });
}

/** The whole of a text. */
export async function wholeText({ text, ref }: Text): Promise<string> {
  return ref === undefined ? text : await readFile(ref.path, "utf8");
}

/** Two texts with the same one say the same, to their ends: half of a hash is still beyond chance. */
export async function digestOfText(text: Text): Promise<string> {
  return sha256(stableText(await wholeText(text))).slice(0, 32);
}
