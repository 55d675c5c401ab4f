import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "../model-server/server.js";
import { acpCases, playAcpCase } from "../real-agents/acp-recording.js";
import { caseScript, cases } from "../real-agents/cases.js";
import { prepareSurroundings } from "../real-agents/programs.js";
import { playCase } from "../real-agents/recording.js";

/**
 * Records what the real programs print, for the tests of whatever reads it: `record-agents claude,codex,pi [case,case]`
 * in the repository, once the programs are installed. Paths of this machine are replaced.
 */
const everything = "claude,codex,pi,claude-agent-acp,codex-acp";
const [programs = everything, only = ""] = process.argv.slice(2);
const isWanted = ({ name }: { readonly name: string }) => only === "" || only.split(",").includes(name);
for (const program of programs.split(",")) {
  if (program === "claude" || program === "codex" || program === "pi")
    for (const one of cases.filter(isWanted))
      await record(`${program}/${one.name}`, async (place) => {
        const { stdout, stderr, ...facts } = await playCase(program, one, place);
        return { texts: { jsonl: stdout, stderr }, facts: { ...facts, prompt: one.prompt } };
      });
  else if (program === "claude-agent-acp" || program === "codex-acp")
    for (const one of acpCases.filter(isWanted))
      await record(`${program}/${one.name}`, async (place) => {
        const { received, sent, stderr, ...facts } = await playAcpCase(program, one, place);
        const texts = { jsonl: toLines(received), "sent.jsonl": toLines(sent), stderr };
        return { texts, facts: { ...facts, prompt: one.prompt } };
      });
  else throw new Error(`unknown: ${program}; known: ${everything}`);
}

interface Place {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}
interface Recorded {
  /** By the end of the file's name. */
  readonly texts: Readonly<Record<string, string>>;
  readonly facts: object;
}

async function record(name: string, play: (place: Place) => Promise<Recorded>): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-record-")));
  const server = await startModelServer({ script: caseScript });
  try {
    const plain = { HOME: root, LANG: "C.UTF-8", GIT_CONFIG_NOSYSTEM: "1" };
    const env = { ...plain, ...prepareSurroundings({ root, url: server.url }) };
    const { texts, facts } = await play({ root, env });
    const all = { ...texts, json: `${JSON.stringify(facts, null, 2)}\n` };
    const file = join("test/real-agents/fixtures", name);
    mkdirSync(join(file, ".."), { recursive: true });
    for (const [end, text] of Object.entries(all)) writeFileSync(`${file}.${end}`, scrub(text, root));
    process.stdout.write(`${name} ${JSON.stringify(facts)}\n`);
  } finally {
    await server.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

function toLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function scrub(text: string, root: string): string {
  return text
    .replaceAll(root, "/sandbox")
    .replaceAll(root.replaceAll("/", "-"), "-sandbox")
    .replaceAll(JSON.stringify(tmpdir()), '"/temporary"')
    .replaceAll(/(?:\/[\w.@-]+)+?\/node_modules\//g, "/agents/node_modules/")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:4000");
}
