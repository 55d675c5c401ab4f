import { expect, test } from "vitest";
import { acpReader } from "./acp/stream.js";
import { claudeReader } from "./claude/stream.js";
import { codexReader } from "./codex/stream.js";
import { piReader } from "./pi/stream.js";

const at = () => 0;

test.each([
  ["claude", claudeReader({ priceOf: () => null, at }), { type: "system", subtype: "init" }, "session_id"],
  ["codex", codexReader({ usageOf: () => null, at }), { type: "thread.started" }, "thread_id"],
  ["pi", piReader(() => null), { type: "session" }, "id"],
  ["acp", acpReader(), { type: "session" }, "id"],
])("%s tells no session that no program could be started with", (_, reader, line, key) => {
  const told = (id: unknown) => reader.line(JSON.stringify({ ...line, [key]: id }));
  expect(told("s-1")).toEqual([{ type: "session", id: "s-1" }]);
  expect(["a\0b", "x".repeat(200_000), "", 5].flatMap(told)).toEqual([]);
});
