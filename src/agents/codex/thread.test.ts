import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readThread } from "./thread.js";

test("a thread whose context was full has cost what it had cost before", async () => {
  const home = mkdtempSync(join(tmpdir(), "ratchet-codex-"));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const folder = join(home, "sessions", "2026", "11", "16");
  mkdirSync(folder, { recursive: true });
  const count = (input_tokens: number, cached_input_tokens: number, output_tokens: number) => ({
    type: "event_msg",
    payload: {
      type: "token_count",
      info: { total_token_usage: { input_tokens, cached_input_tokens, output_tokens } },
    },
  });
  const lines = [{ type: "turn_context", payload: { model: "m" } }, count(1150, 1000, 10), count(0, 0, 0)];
  writeFileSync(join(folder, "rollout-x-t1.jsonl"), lines.map((line) => JSON.stringify(line)).join("\n"));
  expect(await readThread(home, "t1")).toEqual({ tokens: { input: 1150, cached: 1000, output: 10 }, model: "m" });
});
