import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Board } from "../../src/store/store.js";
import { newItem } from "./new-item.js";
import { reworkItem } from "./pull-request-items.js";
import { type TempStore, tempStore } from "./temp-store.js";

let temp: TempStore;
let board: Board;
beforeEach(async () => {
  temp = await tempStore();
  board = temp.store.workItems;
  await temp.store.registerProject("/work/p");
  await temp.store.registerProject("/work/q");
});
afterEach(() => temp.done());

async function found(text: string, projectIds = ["p", "q"], limit = 50): Promise<string[]> {
  const hits = await temp.store.search({ text, projectIds, limit });
  return hits.map((hit) => (hit.kind === "item" ? hit.item.id : `${hit.event.item_id}!${hit.event.type}`));
}

describe("search", () => {
  it('S4 finds "rework-p-pr-42", and an id that was typed in full comes first', async () => {
    await board.addOnce(reworkItem("p"));
    await board.addOnce(reworkItem("p", 2));
    await board.add(newItem("p", { id: "other", body: "after rework-p-pr-42-cycle-2" }));
    expect(await found("rework-p-pr-42")).toEqual(
      expect.arrayContaining(["rework-p-pr-42-cycle-1", "rework-p-pr-42-cycle-2"]),
    );
    expect((await found("rework-p-pr-42-cycle-2"))[0]).toBe("rework-p-pr-42-cycle-2");
  });

  it("finds by title, body, payload and event, by the beginning of a word, in whatever case", async () => {
    await board.add(newItem("p", { id: "a", title: "Fix the Löwen login" }));
    await board.add(newItem("p", { id: "b", body: "first line\nsecond: the cookie" }));
    await board.addOnce(
      reworkItem("p", 1, {
        review_feedback: "one\ntwo",
        inline_comments: [{ path: "src/till.ts", line: null, body: "round half up", author: "ann", created_at: "t" }],
      }),
    );
    await board.appendEvent("p", "a", { type: "log", level: "warning", text: "the worktree was parked" });
    const rework = "rework-p-pr-42-cycle-1";
    expect(await found("LOGIN fix")).toEqual(["a"]);
    expect(await found("lowen")).toEqual(["a"]);
    expect(await found("cook")).toEqual(["b"]);
    expect(await found("second cookie")).toEqual(["b"]);
    expect(await found("two till.ts")).toEqual([rework]);
    expect(await found("parked")).toEqual(["a!log"]);
    expect(await found("nowhere")).toEqual([]);
  });

  it("sees a change at once, and only the projects asked for", async () => {
    await board.add(newItem("p", { id: "a" }));
    await board.add(newItem("q", { id: "a" }));
    for (const project of ["p", "q"]) await board.appendFollowUp(project, "a", { title: "t", body: "brittle" });
    await board.appendFollowUp("p", "a", { title: "t", body: "hollow" });
    expect((await found("brittle")).toSorted()).toEqual(["p-1", "q-1"]);
    expect(await found("hollow brittle")).toEqual(["p-1"]);
    expect(await found("brittle", ["q"])).toEqual(["q-1"]);
    expect(await found("brittle", ["p", "q"], 1)).toHaveLength(1);
    expect(await found("brittle", [])).toEqual([]);
  });

  it("S4 survives whatever is typed, and finds the words in it", async () => {
    await board.add(newItem("p", { id: "a", title: "needle" }));
    const anything = fc.oneof(
      fc.string({ unit: "binary", maxLength: 40 }),
      fc
        .array(
          fc.constantFrom(
            '"',
            "*",
            "(",
            ")",
            "^",
            "-",
            ":",
            "{",
            "}",
            "NEAR",
            "AND",
            "OR",
            "NOT",
            "\0",
            "title:",
            "'",
            ";",
          ),
        )
        .map((parts) => parts.join(" ")),
      fc.string({ maxLength: 3000 }),
    );
    await fc.assert(
      fc.asyncProperty(anything, async (typed) => {
        await expect(found(typed)).resolves.toBeInstanceOf(Array);
      }),
      { numRuns: 300 },
    );
    for (const around of ['"', "*", "\0", "\ud800", "(", "-- ", "^"])
      expect(await found(`${around} needle`)).toEqual(["a"]);
  });
});
