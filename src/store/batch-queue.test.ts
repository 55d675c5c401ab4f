import { describe, expect, it } from "vitest";
import { BatchQueue } from "./batch-queue.js";
import type { Planned, Row, Statement } from "./sql.js";

/** A database of words: a transaction keeps what it executes or, where something throws, nothing of it. */
class Words {
  readonly kept: string[] = [];
  /** What was written together, in order. */
  readonly transactions: string[][] = [];
  readonly broken = new Set<string>();
  busyTimes = 0;
  #open: string[] = [];
  readonly queue: BatchQueue;
  constructor(patienceMs = 1000) {
    this.queue = new BatchQueue({
      transaction: (work) => this.#transaction(work),
      execute: (statements) => statements.map(({ sql }) => this.#execute(sql)),
      patienceMs,
      toError: (error) => new Error(`told: ${error instanceof Error ? error.message : ""}`),
    });
  }
  add(...words: string[]): Promise<Row[][]> {
    return this.queue.add(words.map(statement));
  }
  #execute(word: string): Row[] {
    if (this.broken.has(word)) throw new Error(`${word} is broken`);
    this.#open.push(word);
    return [{ word }];
  }
  #transaction(work: () => void): void {
    if (this.busyTimes-- > 0) throw Object.assign(new Error("busy"), { errcode: 5 });
    this.#open = [];
    work();
    this.kept.push(...this.#open);
    this.transactions.push(this.#open);
  }
}

function statement(sql: string): Statement {
  return { sql, params: [] };
}

/** Says what it saw when it was planned. */
function planned(words: Words, word: string, told: string[]): Planned {
  return {
    plan: () => {
      told.push(`plan ${word}`);
      return [statement(word)];
    },
    committed: () => told.push(`committed ${word} of ${words.kept.length}`),
    undone: () => told.push(`undone ${word}`),
  };
}

const outcomes = async (asked: readonly Promise<Row[][]>[]) =>
  (await Promise.allSettled(asked)).map((one) => (one.status === "fulfilled" ? one.value : one.reason.message));

describe("what is asked for in one turn of the event loop", () => {
  it("is one transaction, in that order, and each gets its own rows", async () => {
    const words = new Words();
    const asked = [words.add("a", "b"), words.add("c")];
    expect(words.transactions).toEqual([]);
    expect(await outcomes(asked)).toEqual([[[{ word: "a" }], [{ word: "b" }]], [[{ word: "c" }]]]);
    expect(words.transactions).toEqual([["a", "b", "c"]]);
    await words.add("d");
    expect(words.transactions).toEqual([["a", "b", "c"], ["d"]]);
  });

  it("fails alone: all others are written, in that order", async () => {
    const words = new Words();
    words.broken.add("b");
    const asked = [words.add("a"), words.add("x", "b"), words.add("c")];
    expect(await outcomes(asked)).toEqual([[[{ word: "a" }]], "told: b is broken", [[{ word: "c" }]]]);
    expect(words.transactions).toEqual([["a"], ["c"]]);
  });

  it("is planned when its turn comes, undone last first, and planned again by itself", async () => {
    const words = new Words();
    const told: string[] = [];
    words.broken.add("c");
    const asked = ["a", "b", "c"].map((word) => words.queue.add(planned(words, word, told)));
    expect(told).toEqual([]);
    await outcomes(asked);
    const together = ["plan a", "plan b", "plan c", "undone c", "undone b", "undone a"];
    const alone = ["plan a", "committed a of 1", "plan b", "committed b of 2", "plan c", "undone c"];
    expect(told).toEqual([...together, ...alone]);
  });
});

describe("another program's lock", () => {
  it("is waited for, by what is asked for meanwhile, too", async () => {
    const words = new Words();
    words.busyTimes = 2;
    const first = words.add("a");
    await new Promise(setImmediate);
    await outcomes([first, words.add("b")]);
    expect(words.transactions).toEqual([["a", "b"]]);
  });

  it("fails what has waited long enough, and leaves nothing behind that would be written later", async () => {
    const words = new Words(-1);
    words.busyTimes = 1;
    expect(await outcomes([words.add("a")])).toEqual(["told: busy"]);
    await words.add("b");
    expect(words.kept).toEqual(["b"]);
  });
});

describe("closing", () => {
  it("writes what was asked for", async () => {
    const words = new Words();
    const asked = words.add("a");
    words.queue.close();
    expect(words.kept).toEqual(["a"]);
    await asked;
    await new Promise(setImmediate);
    expect(words.transactions).toEqual([["a"]]);
  });

  it("fails what another program is in the way of", async () => {
    const words = new Words();
    words.busyTimes = 1;
    const asked = words.add("a");
    words.queue.close();
    expect(await outcomes([asked])).toEqual(["told: busy"]);
  });
});
