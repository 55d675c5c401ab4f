import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { longSteps, timerMs } from "../children/durable-scripts.js";
import { rounds } from "../rounds.js";
import {
  type DriverOptions,
  performedKeys,
  recordedKeys,
  runDriver,
  startDriver,
  withHome,
  withStore,
} from "./durable-child.js";

/** Killed at the given boundary, then started again: what was recorded is not performed again, and the end is the same. */
async function killAndRestart(
  options: DriverOptions & { readonly dieAt: number },
  expected: readonly string[],
): Promise<boolean> {
  const first = await runDriver(options);
  if (first.signal === null) {
    expect(first.state?.done.toSorted()).toEqual(expected.toSorted());
    return false;
  }
  expect(first.signal).toBe("SIGKILL");
  const recorded = await recordedKeys(options.home);
  const performedBefore = performedKeys(options.home).length;
  const { dieAt: _none, ...again } = options;
  const second = await runDriver(again);
  expect(second.code).toBe(0);
  expect(second.state?.done.toSorted()).toEqual(expected.toSorted());
  const performedAgain = performedKeys(options.home).slice(performedBefore);
  expect(performedAgain.filter((key) => recorded.includes(key))).toEqual([]);
  const journal = await recordedKeys(options.home);
  expect(journal.toSorted()).toEqual(expected.filter((key) => key !== "started").toSorted());
  return true;
}

/** At every boundary, or at every `step`-th one, beginning anywhere; gives the first one that was not reached any more. */
async function killAtBoundaries(script: string, expected: readonly string[], step = 1): Promise<number> {
  for (let dieAt = Math.floor(Math.random() * step); ; dieAt += step) {
    const killed = await withHome((home) => killAndRestart({ home, script, dieAt }, expected));
    if (!killed) return dieAt;
  }
}

describe("a machine killed with SIGKILL", () => {
  it("ends the same, killed between any two boundaries of a chain of steps", async () => {
    const boundaries = await killAtBoundaries("chain", ["started", "work:a", "work:b", "work:c"]);
    // open, started and three steps: two each, and two around each performance.
    expect(boundaries).toBe(2 + 2 + 3 * 2 + 3 * 2);
  });

  it("ends the same, killed between any two boundaries of two steps in each of four parallel branches", async () => {
    const keys = ["a1", "b1", "c1", "d1", "a2", "b2", "c2", "d2"].map((key) => `work:${key}`);
    const step = rounds(3, 1);
    const boundaries = await killAtBoundaries("branches", ["started", ...keys], step);
    expect(boundaries).toBeGreaterThanOrEqual(2 + 2 + 8 * 4);
    expect(boundaries).toBeLessThan(2 + 2 + 8 * 4 + step);
  }, 240_000);

  it("ends the same, killed from outside again and again at moments it cannot foresee", async () => {
    await withHome(async (home) => {
      let kills = 0;
      for (let round = 0; round < rounds(12, 30); round++) {
        const driver = startDriver({ home, script: "long" });
        await driver.saidLines(1 + (round % 7));
        driver.process.kill("SIGKILL");
        if ((await driver.ended()).signal === null) break;
        kills++;
      }
      expect(kills).toBeGreaterThan(2);
      const { state } = await runDriver({ home, script: "long" });
      expect(state?.done).toEqual(["started", ...Array.from({ length: longSteps }, (_, n) => `work:${n + 1}`)]);
      expect(state?.resumed).toBeLessThanOrEqual(kills);
      expect(await recordedKeys(home)).toEqual(state?.done.slice(1));
      expect(performedKeys(home).length).toBeLessThanOrEqual(longSteps + kills);
    });
  });

  it("goes on in a new version that has one more effect", async () => {
    await withHome(async (home) => {
      const old = startDriver({ home, script: "upgrade", version: 1 });
      await old.said("begun hold:b");
      old.process.kill("SIGKILL");
      await old.ended();
      writeFileSync(join(home, "release"), "");
      const { state } = await runDriver({ home, script: "upgrade", version: 2 });
      expect(state?.done).toEqual(["started", "work:a", "hold:b", "work:checked", "work:c"]);
      expect(performedKeys(home).filter((key) => key === "work:a")).toHaveLength(1);
    });
  });

  it("keeps a timer's end across a restart", async () => {
    await withHome(async (home) => {
      const first = startDriver({ home, script: "timer" });
      await first.said("begun timer:nap");
      first.process.kill("SIGKILL");
      await first.ended();
      const { state } = await runDriver({ home, script: "timer" });
      expect(state?.done).toEqual(["started", "timer:nap", "work:a"]);
      const [started, , fired] = await withStore(home, async (store) => (await store.journal("m")) as { at: number }[]);
      const slept = (fired?.at ?? 0) - (started?.at ?? 0);
      expect(slept).toBeGreaterThanOrEqual(timerMs - 5);
      // Begun anew, the timer would have run from the restart on.
      const resumedAt = await withStore(
        home,
        async (store) => ((await store.journal("m")) as { at: number }[])[1]?.at ?? 0,
      );
      expect((fired?.at ?? 0) - resumedAt).toBeLessThan(timerMs);
    });
  });

  it("loses nothing of a 10 MB result, whether killed before or after its commit", async () => {
    for (const dieAt of [5, 6, 7, 8]) {
      await withHome(async (home) => {
        await killAndRestart({ home, script: "big", dieAt }, ["started", "big:result", "work:a"]);
        const journal = await withStore(home, async (store) => (await store.journal("m")) as { value?: string }[]);
        expect(journal.map((arrival) => arrival.value?.length ?? 0).filter((length) => length > 0)).toEqual([
          10_000_000,
        ]);
      });
    }
  });
});

describe("signals", () => {
  it("are accepted before the machine exists, and taken by the step that records them", async () => {
    await withHome(async (home) => {
      await withStore(home, (store) => store.signal("m", { go: 1 }));
      const { state } = await runDriver({ home, script: "signal" });
      expect(state?.values["wait:go"]).toBe('{"go":1}');
      const left = withStore(home, (store) => store.nextSignal("m", 0, AbortSignal.timeout(50)));
      await expect(left).rejects.toThrow(/timeout/);
    });
  });

  it("wake a machine that waits in another process", async () => {
    await withHome(async (home) => {
      const driver = startDriver({ home, script: "signal" });
      await driver.said("begun wait:go");
      const sent = performance.now();
      await withStore(home, (store) => store.signal("m", "now"));
      expect((await driver.ended()).state?.values["wait:go"]).toBe('"now"');
      expect(performance.now() - sent).toBeLessThan(1900);
    });
  });

  it("are taken once, also when the process is killed before their step is recorded", async () => {
    await withHome(async (home) => {
      await withStore(home, (store) => store.signal("m", "once"));
      for (const dieAt of [5, 6]) expect((await runDriver({ home, script: "signal", dieAt })).signal).toBe("SIGKILL");
      const { state } = await runDriver({ home, script: "signal" });
      expect(state?.done).toEqual(["started", "wait:go", "work:a"]);
      expect((await recordedKeys(home)).filter((key) => key === "wait:go")).toHaveLength(1);
    });
  });
});

describe("two drivers", () => {
  it("leave a machine to the one that lives", async () => {
    await withHome(async (home) => {
      const driver = startDriver({ home, script: "held" });
      await driver.said("begun hold:gate");
      expect((await runDriver({ home, script: "held" })).code).toBe(8);
      writeFileSync(join(home, "release"), "");
      expect((await driver.ended()).state?.done).toEqual(["started", "hold:gate", "work:a"]);
    });
  });

  it("fence the older one: stopped, taken over from and continued, it writes nothing and aborts its performers", async () => {
    await withHome(async (home) => {
      const old = startDriver({ home, script: "held" });
      await old.said("begun forever:watch");
      old.process.kill("SIGSTOP");
      // A stopped driver lives: only force takes over.
      expect((await runDriver({ home, script: "held" })).code).toBe(8);
      const taker = startDriver({ home, script: "held", force: true });
      await taker.said("begun hold:gate");
      writeFileSync(join(home, "release"), "");
      expect((await taker.ended()).state?.done).toEqual(["started", "hold:gate", "work:a"]);
      const journal = await recordedKeys(home);
      old.process.kill("SIGCONT");
      await old.said("aborted forever:watch");
      expect((await old.ended()).code).toBe(7);
      expect(await recordedKeys(home)).toEqual(journal);
      expect(performedKeys(home).filter((key) => key === "work:a")).toHaveLength(1);
    });
  });

  it("cancel what nobody waits for, and its late result changes nothing", async () => {
    await withHome(async (home) => {
      writeFileSync(join(home, "release"), "");
      const driver = startDriver({ home, script: "held" });
      await driver.said("aborted forever:watch");
      const { state } = await driver.ended();
      expect(state?.done).toEqual(["started", "hold:gate", "work:a"]);
      expect(state?.values).toEqual({});
    });
  });
});
