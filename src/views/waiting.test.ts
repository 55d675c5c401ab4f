import { expect, test } from "vitest";
import { waitingLine } from "./waiting.js";

test("what is left where nothing is ready is counted, each with the command that helps", () => {
  expect(waitingLine(["completed", "completed"])).toBeNull();
  expect(waitingLine(["failed", "completed", "failed", "waiting_for_response", "claimed"])).toBe(
    "nothing is ready: 2 failed (ratchet run --resume), 1 waits for a person (ratchet retry <id>), 1 claimed (ratchet status)",
  );
  expect(waitingLine(["in-pull-request", "waiting_for_response", "in-pull-request"])).toBe(
    "nothing is ready: 1 waits for a person (ratchet retry <id>), 2 wait for their pull requests (ratchet pr list)",
  );
});
