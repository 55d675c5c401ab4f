/** The exit code of a program that stopped waiting for something that nothing could bring any more. */
const unfinished = 13;

/** A program's whole course. One that stops before its end, because nothing is left that could wake it, has failed. */
export function runToEnd(main: () => Promise<void>): void {
  let ended = false;
  process.once("beforeExit", () => {
    if (!ended) process.exitCode ||= unfinished;
  });
  void main().finally(() => {
    ended = true;
  });
}
