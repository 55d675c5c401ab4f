import { expect, test } from "vitest";
import { soak } from "../children/pr-soak.js";
import { program } from "./sandbox.js";

test("soak: through failing requests, lost answers and kills every comment is delivered once and answered once", async () => {
  const { wrong, cycles } = await soak({ program, pullRequests: 2, rounds: 2, seed: 7 });
  expect(wrong).toEqual([]);
  expect(cycles).toBe(4);
});
