import { randomBytes } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "../lib/errors.js";
import type { Mirror } from "./mirror-refs.js";

/** What every new checkout starts with, made at each start from the user's repository. */
export interface CheckoutTemplate {
  readonly config: string;
  readonly exclude: string;
  readonly attributes: string;
  readonly packedRefs: string;
}

function templateFile(mirror: Mirror): string {
  return join(mirror.path, "ratchet", "checkout.json");
}

export async function writeTemplate(mirror: Mirror, template: CheckoutTemplate): Promise<void> {
  await writeIfChanged(templateFile(mirror), JSON.stringify(template));
}

export async function readTemplate(mirror: Mirror): Promise<CheckoutTemplate> {
  const read: unknown = JSON.parse(await readFile(templateFile(mirror), "utf8"));
  const part = (name: string) => {
    const value =
      typeof read === "object" && read !== null ? Object.entries(read).find(([key]) => key === name)?.[1] : null;
    return typeof value === "string" ? value : "";
  };
  return {
    config: part("config"),
    exclude: part("exclude"),
    attributes: part("attributes"),
    packedRefs: part("packedRefs"),
  };
}

/** The file's text, "" when there is no such file. */
export async function readOr(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(codeOf(error) ?? "")) return "";
    throw error;
  }
}

/** Readers see the old text or the new one, never half of it. */
export async function writeIfChanged(path: string, text: string): Promise<void> {
  if ((await readOr(path)) === text) return;
  await mkdir(dirname(path), { recursive: true });
  const aside = `${path}.${process.pid}-${randomBytes(4).toString("hex")}`;
  await writeFile(aside, text, { mode: 0o600 });
  await rename(aside, path);
}
