import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { Socket } from "node:net";
import { waitFor } from "../lib/process/small-shells.js";
import { gitEnvironment } from "./environment.js";

/**
 * A git process that changes the refs of one repository for as long as there is something to change: each time a
 * transaction, all of it or nothing. It ends with us, because its input does, and leaves no lock. Whatever it does not
 * confirm it has not done, and whoever asked has git do it, or say why not.
 */
export class RefProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: ((done: boolean) => void)[] = [];
  #said = "";
  #ended = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(repository: string) {
    const options = { cwd: repository, env: gitEnvironment(), detached: true } as const;
    this.#child = spawn("git", ["update-ref", "--no-deref", "-z", "--stdin"], { ...options, stdio: "pipe" });
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    this.#child.stderr.resume();
    this.#child.stdin.on("error", () => this.#end());
    this.#child.on("error", () => this.#end());
    this.#child.on("close", () => this.#end());
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr])
      if (stream instanceof Socket) stream.unref();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Instructions as `update-ref -z --stdin` reads them. false: nothing is known to be done. */
  change(instructions: string): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#ended) return resolve(false);
      clearTimeout(this.#idle);
      // Kept alive by whoever waits for the answer.
      const alive = setTimeout(() => this.close(), answerMs);
      this.#waiting.push((done) => {
        clearTimeout(alive);
        resolve(done);
      });
      this.#child.stdin.write(`start\0${instructions}commit\0`);
    });
  }

  close(): void {
    this.#child.stdin.end();
    this.#end();
  }

  /** We end after it. */
  closeAndWait(): void {
    this.close();
    waitFor(this.#child);
  }

  #hear(text: string): void {
    this.#said += text;
    for (let at = this.#said.indexOf(confirmed); at >= 0; at = this.#said.indexOf(confirmed)) {
      this.#said = this.#said.slice(at + confirmed.length);
      this.#waiting.shift()?.(true);
    }
    if (this.#waiting.length === 0) this.#idle = setTimeout(() => this.close(), idleMs).unref();
  }

  #end(): void {
    this.#ended = true;
    clearTimeout(this.#idle);
    for (const resolve of this.#waiting.splice(0)) resolve(false);
  }
}

const confirmed = "commit: ok\n";
/** A transaction takes a millisecond. */
const answerMs = 30_000;
const idleMs = 10_000;
