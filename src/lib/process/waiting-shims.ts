import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { shimFunctions, shimName } from "./shim.js";
import { waitFor } from "./small-shells.js";

/**
 * Shims that are started ahead. To start a program takes a process in a session of its own and a shell that has read what a
 * shim is: both are there before anybody needs them, and wait for the one order that makes them a program's shim.
 *
 * Each has a parent of one megabyte that starts it and, when it has been killed, as every shim ends itself, says so and
 * starts the next. The order comes by the parent's own input, which nobody else reads: it is written only when the shim
 * before has ended. What was written when we die is carried out; a shim without an order ends with us, and its parent.
 */
export class WaitingShims {
  readonly #place: string;
  readonly #idle: Parent[] = [];

  /** `place`: whose they are, for whoever looks at what runs on this machine. */
  constructor(place: string) {
    this.#place = place;
    // Waited for, so that nothing of ours is there any more when we are gone.
    process.once("beforeExit", () => {
      for (const parent of this.#idle.splice(0)) parent.closeAndWait();
    });
  }

  /** One ahead of what is asked for. */
  prepare(): void {
    if (this.#idle.some(({ usable }) => usable)) return;
    this.#idle.push(new Parent(this.#place));
  }

  begin(order: string): BegunShim {
    const parent = this.#take();
    const begun = parent.begin(order);
    setImmediate(() => this.prepare());
    return { ...begun, ended: begun.ended.then(() => this.#giveBack(parent)) };
  }

  /** The one that has waited longest: that of a program that ended just now is still to start its next. */
  #take(): Parent {
    for (let parent = this.#idle.shift(); parent !== undefined; parent = this.#idle.shift()) {
      if (parent.usable) return parent;
    }
    return new Parent(this.#place);
  }

  #giveBack(parent: Parent): void {
    if (!parent.usable) return;
    if (this.#idle.length < keptIdle) this.#idle.push(parent);
    else parent.close();
  }
}

export interface BegunShim {
  /** null: it has not said yet. */
  readonly pid: () => number | null;
  /** It is gone; with its process group, unless a stop is under way. */
  readonly ended: Promise<void>;
}

const keptIdle = 32;

/** Gives a program a session of its own; where there is none, Node has to. */
const setsid = ["/usr/bin/setsid", "/bin/setsid"].find((path) => existsSync(path)) ?? null;

export const canShimsWait = setsid !== null && process.platform === "linux";

/** What a shim is comes with its environment, which is not its program's. It says who it is. */
const firstWords = 'eval "$RATCHET_SHIM"; unset RATCHET_SHIM RATCHET_SHIM_OF; echo $$\n';

/** A shim that ends by itself has no order and will get none. */
const parentText = 'while "$1" /bin/sh -s "$2"; [ $? -gt 128 ]; do echo; done';

interface Waiting {
  pid: number | null;
}

class Parent {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  /** The shim that is there: to be given an order, or at work. */
  #shim: Waiting = { pid: null };
  #said = "";
  #gone = false;
  #ended: (() => void) | null = null;

  constructor(place: string) {
    const args = ["-c", parentText, "sh", setsid ?? "setsid", shimName];
    const stdio = ["pipe", "pipe", "ignore"] as const;
    const env = { RATCHET_SHIM: shimFunctions, RATCHET_SHIM_OF: place };
    this.#child = spawn("/bin/sh", args, { cwd: "/", env, detached: true, stdio: [...stdio] });
    this.#child.stdout.setEncoding("latin1").on("data", (text: string) => this.#hear(text));
    // Its end is an answer, also to what it could not be told.
    this.#child.stdin.on("error", () => this.close());
    this.#child.on("error", () => this.#end());
    this.#child.on("close", () => this.#end());
    // One that waits for us must not be what we wait for.
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout]) if (stream instanceof Socket) stream.unref();
    this.#child.stdin.write(firstWords);
  }

  get usable(): boolean {
    return !this.#gone && this.#ended === null;
  }

  begin(order: string): BegunShim {
    const shim = this.#shim;
    const ended = new Promise<void>((resolve) => {
      if (this.#gone) return resolve();
      this.#ended = resolve;
      this.#child.stdin.write(order);
    });
    return { pid: () => shim.pid, ended };
  }

  close(): void {
    this.#gone = true;
    this.#child.stdin.end();
  }

  closeAndWait(): void {
    this.close();
    waitFor(this.#child);
  }

  /** A number is the shim's that waits; an empty line is its end. */
  #hear(text: string): void {
    const lines = (this.#said + text).split("\n");
    this.#said = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") this.#next();
      else this.#shim.pid = Number(line);
    }
  }

  #next(): void {
    this.#shim = { pid: null };
    if (!this.#gone) this.#child.stdin.write(firstWords);
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
