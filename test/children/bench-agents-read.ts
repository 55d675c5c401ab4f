import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { loadAgent } from "../../src/app/adapters.js";
import { createApp } from "../../src/app.js";
import { hear, nothingSaid } from "../../src/core/issue/marker.js";
import { linesFor } from "../../src/core/ports/agent-event.js";
import { followLines } from "../../src/lib/follow-file.js";

/**
 * `bench-agents-read <repository> <folder>`: what a turn does with its program's stream, in a process of its own: follows
 * it until stdin ends, which says that the program has, then reads it for its outcome and for its last message. Tells how
 * much memory that took beyond what the process had before.
 */
const [repository = "", folder = ""] = process.argv.slice(2);
const app = createApp({ cwd: repository, env: process.env });
const { settings } = await app.settings({});
const agent = await loadAgent(settings.agent, null, process.env);
const files = {
  folder,
  stdout: join(folder, "transcript.jsonl"),
  stderr: join(folder, "stderr.log"),
  result: join(folder, "result.json"),
};

const before = process.memoryUsage.rss();
process.stdout.write("ready\n");
let peak = before;
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};
const often = setInterval(look, 10);

const ended = new AbortController();
void once(process.stdin.resume(), "end").then(() => ended.abort());
const reader = agent.reader?.(files);
if (!reader) throw new Error(`${agent.kind} has no stream`);
let [lines, events] = [0, 0];
for await (const line of followLines(files.stdout, ended.signal, linesFor(reader))) {
  events += reader.line(line).length;
  if (++lines % 50 === 0) look();
}
const { outcome } = await agent.read(files, 0);
look();
let said = nothingSaid;
for await (const line of agent.message(files)) said = hear(said, line);
look();
clearInterval(often);
app.close();
const { size: bytes } = statSync(files.stdout);
process.stdout.write(`${JSON.stringify({ growth: peak - before, lines, events, outcome, bytes })}\n`);
