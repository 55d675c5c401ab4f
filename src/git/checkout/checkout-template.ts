import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Mirror } from "../mirror/mirror-refs.js";
import { type ConfigEntry, fromHome, usualPlace } from "../repository.js";
import { readOr, writeIfChanged } from "../small-files.js";

/** What every new checkout starts with, made at each start from the user's repository. */
export interface CheckoutTemplate {
  readonly config: string;
  readonly exclude: string;
  readonly attributes: string;
  readonly packedRefs: string;
  /** Settings of every scope that say how files are written; only ever compared. */
  readonly conversion: string;
}

/** As it is on the disk. */
export interface KnownTemplate extends CheckoutTemplate {
  /** Of all that is in it, and of the mirror's place. */
  readonly mark: string;
}

function templateFile(mirror: Mirror): string {
  return join(mirror.path, "ratchet", "checkout.json");
}

export async function writeTemplate(mirror: Mirror, template: CheckoutTemplate): Promise<void> {
  await writeIfChanged(templateFile(mirror), JSON.stringify(template));
}

const known = new Map<string, { readonly text: string; readonly template: KnownTemplate }>();

/** Asked for before every look at a checkout, and hardly ever another than the time before. */
export function readTemplate(mirror: Mirror): KnownTemplate {
  const text = readFileSync(templateFile(mirror), "utf8");
  const before = known.get(mirror.path);
  if (before?.text === text) return before.template;
  const mark = createHash("sha256").update(`${mirror.path}\n${text}`).digest("hex").slice(0, 16);
  const template = { ...parseTemplate(text), mark };
  known.set(mirror.path, { text, template });
  return template;
}

function parseTemplate(text: string): CheckoutTemplate {
  const read: unknown = JSON.parse(text);
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
    conversion: part("conversion"),
  };
}

const converting = /^core\.(autocrlf|eol|symlinks|filemode|ignorecase|attributesfile)$|^filter\./;

/** How the user's settings, their own attributes file included, say that files are written. */
export async function readConversion(entries: readonly ConfigEntry[]): Promise<string> {
  const settings = entries.filter(({ key }) => converting.test(key)).map(({ key, value }) => `${key}=${value}`);
  const named = entries.findLast(({ key }) => key === "core.attributesfile")?.value;
  return [...settings, readOr(named === undefined ? usualPlace("attributes") : fromHome(named))].join("\n");
}
