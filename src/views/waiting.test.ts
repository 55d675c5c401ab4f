import { expect, test } from "vitest";
import { emptyEpicsLine, readyWords, waitingLine } from "./waiting.js";

test("what is left where nothing is ready is counted, each with the command that helps", () => {
  expect(waitingLine(["completed", "completed"])).toBeNull();
  expect(waitingLine(["failed", "completed", "failed", "waiting_for_response", "claimed"])).toBe(
    "nothing is ready: 2 failed (ratchet run --resume), 1 waits for a person (ratchet retry <id>), 1 claimed (ratchet status)",
  );
  expect(waitingLine(["untouched", "available", "untouched"])).toBe(
    "nothing is ready: 2 that nobody has worked on yet (ratchet run --resume), 1 not ready yet (ratchet explain <id>)",
  );
  expect(waitingLine(["in-pull-request", "waiting_for_response", "in-pull-request"])).toBe(
    "nothing is ready: 1 waits for a person (ratchet retry <id>), 2 wait for their pull requests (ratchet pr list)",
  );
});

test("where an epic is due it is not said that nothing is ready", () => {
  expect(waitingLine(["available"], ["e"])).toBe("nothing but epic e is ready: 1 not ready yet (ratchet explain <id>)");
  expect([[], ["e", "f"]].map(readyWords)).toEqual(["nothing is ready", "nothing but epics e, f is ready"]);
});

test("epics that nobody has given an issue are named: no run completes them", () => {
  expect(emptyEpicsLine([])).toBeNull();
  expect(emptyEpicsLine(["e"])).toBe(
    "epic e has no issues, so no run completes it or an epic that it is in (ratchet explain e)",
  );
  expect(emptyEpicsLine(["e", "f"])).toBe(
    "epics e, f have no issues, so no run completes them or an epic that they are in (ratchet explain e)",
  );
});
