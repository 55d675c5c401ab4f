import { expect, test } from "vitest";
import { rounds } from "../rounds.js";
import { chance, expectNothingLeft, freshSeed, killUntilDone, outcomeOf } from "./kill-loop.js";
import { emptySandbox, type Sandbox, until } from "./sandbox.js";

const kills = rounds(15, 50);

/** The demo's repository and issues, its run killed as soon as it has begun. */
async function demoBegun(): Promise<Sandbox> {
  const box = emptySandbox("demo");
  const demo = box.start(["demo", "--dir", `${box.root}/demo`], { cwd: box.root });
  await until("the demo's run to begin", () => /^run \S+ started/m.test(demo.stdout()) || demo.isEnded());
  demo.kill("SIGKILL");
  await demo.ended;
  return box;
}

test("D1 killed again and again on the demo's issues, the runs end as an undisturbed demo does", {
  timeout: 240_000,
}, async () => {
  const seed = freshSeed();
  const random = chance(seed);
  const calm = emptySandbox("demo");
  expect((await calm.start(["demo", "--dir", `${calm.root}/demo`], { cwd: calm.root }).ended).code).toBe(0);
  const wanted = await outcomeOf(calm);
  expect(wanted.findings).toHaveLength(3);
  for (let done = 0; done < kills; ) {
    const box = await demoBegun();
    const { kills: more, last } = await killUntilDone(box, random, kills - done);
    const told = `seed ${seed}, kills ${done} to ${done + more}, last words: ${last.stderr}`;
    expect(last.code, told).toBe(0);
    expect(await outcomeOf(box), told).toEqual(wanted);
    await expectNothingLeft(box);
    done += more;
  }
});
