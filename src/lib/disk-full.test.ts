import { expect, it } from "vitest";
import { asDiskFull } from "./disk-full.js";
import { ExternalError } from "./errors.js";

const failed = (code: string, more: object) => Object.assign(new Error(code), { code, ...more });

it("D3 a write for which there is no room is told with the file and what to do", () => {
  const full = asDiskFull(failed("ENOSPC", { syscall: "open", path: "/home/runs/1/prompt.md" }));
  expect(full?.message).toBe("the disk is full: /home/runs/1/prompt.md could not be written");
  expect(full?.hint).toContain("free some space");
  expect(asDiskFull(full)).toBe(full);
});

it("neither a lack of watches nor another failure is a full disk", () => {
  expect(asDiskFull(failed("ENOSPC", { syscall: "watch", path: "/home" }))).toBeNull();
  expect(asDiskFull(failed("EACCES", { syscall: "open" }))).toBeNull();
  expect(asDiskFull(new ExternalError("git", "git said no"))).toBeNull();
});
