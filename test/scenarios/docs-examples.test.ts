import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { emptySandbox, program } from "./sandbox.js";

/** The examples that users are told to try, as they stand on the pages: what they are said to print is printed. */
const pages = [
  "durability",
  "findings",
  "getting-started",
  "lifecycle",
  "migration-from-mala",
  "resume",
  "reviews",
  "triggers",
];

const docs = fileURLToPath(new URL("../../docs", import.meta.url));

interface Block {
  readonly language: string;
  readonly text: string;
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(docs, `${page}.md`), "utf8");
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({ language, text }));
}

/** A whole example makes its own repository; the commands behind it go on in there, up to the next one that is no part of it. */
function exampleOn(page: string): { readonly script: string; readonly printed: readonly string[] } {
  const blocks = blocksOf(page);
  const at = blocks.findIndex(({ language, text }) => language === "sh" && text.startsWith("mkdir "));
  const script = [blocks[at]?.text ?? ""];
  const printed: string[] = [];
  for (const { language, text } of blocks.slice(at + 1)) {
    if (language !== "" && language !== "console") break;
    const lines = text.split("\n");
    script.push(...lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2)));
    printed.push(...lines.filter((line) => line !== "" && line !== "…" && !line.startsWith("$ ")));
    if (language === "") break;
  }
  return { script: script.join("\n"), printed };
}

/** Ids of findings are made from their words, so those on the page are the ones; of runs and commits they are not. */
function bare(line: string): string {
  return line
    .replace(/\b[0-9]{8}-[0-9]{6}-[0-9a-f]{6}\b/g, "<run>")
    .replace(/\b[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+Z\b/g, "<time>")
    .replace(/\b(?:as|commit|at|HEAD) [0-9a-f]{12}\b/g, (found) => found.replace(/[0-9a-f]{12}$/, "<commit>"))
    .trimEnd();
}

test.each(pages)("the example of docs/%s.md prints what it is said to print", (page) => {
  const box = emptySandbox();
  const { script, printed } = exampleOn(page);
  expect(script, "the page has an example").not.toBe("");
  const bin = box.put("bin/ratchet", `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(bin, 0o755);
  const env = { ...box.env, PATH: `${join(box.root, "bin")}:${box.env.PATH ?? ""}` };
  execFileSync("git", ["config", "--global", "user.name", "A Person"], { cwd: box.root, env });
  execFileSync("git", ["config", "--global", "user.email", "person@localhost"], { cwd: box.root, env });
  const { stdout, stderr } = spawnSync("sh", [], { cwd: box.root, env, input: script, encoding: "utf8" });
  const lines = new Set(`${stdout}\n${stderr}`.split("\n").map(bare));
  expect(
    printed.map(bare).filter((line) => !lines.has(line)),
    `${stdout}\n${stderr}`,
  ).toEqual([]);
});

const everyPage = readdirSync(docs).flatMap((name) => (name.endsWith(".md") ? [name.slice(0, -3)] : []));

test.each(everyPage)("what docs/%s.md shows as shell can be read by one as it stands", (page) => {
  const blocks = blocksOf(page).filter(({ language }) => language === "sh");
  const refused = blocks.filter(({ text }) => spawnSync("sh", ["-n"], { input: text }).status !== 0);
  expect(refused).toEqual([]);
});
