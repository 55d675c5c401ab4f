import { spawn } from "node:child_process";

/** A foreign program that holds a transaction on a database until told to let go. */
export async function holding(path: string, how: "reading" | "writing"): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ["dist-test/store-lock.mjs", path, how], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  return () => new Promise<void>((resolve) => child.once("close", () => resolve()).stdin.end());
}
