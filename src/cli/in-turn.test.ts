import { expect, it } from "vitest";
import { inTurn } from "./in-turn.js";

it("E7 of several gates one is asked at a time, those that were answered elsewhere meanwhile are not asked, and a failure keeps nobody from the next", async () => {
  const answers = new Map<string, (answer: string) => void>();
  const shown: string[] = [];
  const ask = inTurn((question: string) => {
    shown.push(question);
    if (question === "broken") return Promise.reject(new Error("no terminal"));
    return new Promise<string>((answer) => answers.set(question, answer));
  });
  const elsewhere = new AbortController();
  const { signal } = new AbortController();
  const first = ask("first", signal);
  const gone = ask("gone", elsewhere.signal);
  const broken = expect(ask("broken", signal)).rejects.toThrow("no terminal");
  const last = ask("last", signal);
  await expect.poll(() => shown).toEqual(["first"]);
  elsewhere.abort();
  answers.get("first")?.("yes");
  expect([await first, await gone]).toEqual(["yes", null]);
  await broken;
  await expect.poll(() => shown).toEqual(["first", "broken", "last"]);
  answers.get("last")?.("no");
  expect(await last).toBe("no");
});
