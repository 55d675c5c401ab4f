import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { shimFunctions, shimName } from "./shim.js";

/**
 * Shims that are started ahead. To start a program takes a process in a session of its own and a shell that has read what a
 * shim is: both are there before anybody needs them, and wait for the one order that makes them a program's shim.
 *
 * Each has a parent of one megabyte that starts it and, when it has been killed, as every shim ends itself, says so and
 * starts the next. The order comes by the parent's own input, which nobody else reads: it is written only when the shim
 * before has ended. What was written when we die is carried out; a shim without an order ends with us, and its parent.
 */
export class WaitingShims {
  readonly #idle: Parent[] = [];

  /** One ahead of what is asked for. */
  prepare(): void {
    if (this.#idle.some(({ usable }) => usable)) return;
    this.#idle.push(new Parent());
  }

  /** `order` is told the shim's mark. */
  begin(order: (mark: string) => string): BegunShim {
    const parent = this.#take();
    const { mark } = parent;
    const ended = parent.begin(order(mark)).then(() => this.#giveBack(parent));
    setImmediate(() => this.prepare());
    return { mark, ended };
  }

  #take(): Parent {
    for (let parent = this.#idle.pop(); parent !== undefined; parent = this.#idle.pop()) {
      if (parent.usable) return parent;
    }
    return new Parent();
  }

  #giveBack(parent: Parent): void {
    if (this.#idle.length < keptIdle) this.#idle.push(parent);
    else parent.close();
  }
}

export interface BegunShim {
  readonly mark: string;
  /** It is gone, with its process group. */
  readonly ended: Promise<void>;
}

const keptIdle = 32;

/** Gives a program a session of its own; where there is none, Node has to. */
const setsid = ["/usr/bin/setsid", "/bin/setsid"].find((path) => existsSync(path)) ?? null;

export const canShimsWait = setsid !== null && process.platform === "linux";

/** A shim that ends by itself has no order and will get none. */
const parentText = 'n=0; while n=$((n + 1)); "$1" /bin/sh -s "$2" "$3-$n."; [ $? -gt 128 ]; do echo; done';

class Parent {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #secret = randomBytes(16).toString("hex");
  #count = 1;
  #gone = false;
  #ended: (() => void) | null = null;

  constructor() {
    const args = ["-c", parentText, "sh", setsid ?? "setsid", shimName, this.#secret];
    const stdio = ["pipe", "pipe", "ignore"] as const;
    this.#child = spawn("/bin/sh", args, { cwd: "/", env: {}, detached: true, stdio: [...stdio] });
    this.#child.stdout.on("data", (ends: Buffer) => this.#next(ends.length));
    // Its end is an answer, also to what it could not be told.
    this.#child.stdin.on("error", () => this.close());
    this.#child.on("error", () => this.#end());
    this.#child.on("close", () => this.#end());
    // One that waits for us must not be what we wait for.
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout]) if (stream instanceof Socket) stream.unref();
    this.#child.stdin.write(shimFunctions);
  }

  /** Of the shim that waits. */
  get mark(): string {
    return `${this.#secret}-${this.#count}.`;
  }

  get usable(): boolean {
    return !this.#gone && this.#ended === null;
  }

  begin(order: string): Promise<void> {
    return new Promise((resolve) => {
      if (this.#gone) return resolve();
      this.#ended = resolve;
      this.#child.stdin.write(order);
    });
  }

  close(): void {
    this.#gone = true;
    this.#child.stdin.end();
  }

  #next(shims: number): void {
    this.#count += shims;
    if (!this.#gone) this.#child.stdin.write(shimFunctions);
    this.#settle();
  }

  #end(): void {
    this.#gone = true;
    this.#settle();
  }

  #settle(): void {
    const ended = this.#ended;
    this.#ended = null;
    ended?.();
  }
}
