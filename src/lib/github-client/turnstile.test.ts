import { expect, test } from "vitest";
import { openTurnstile } from "./turnstile.js";

test("so many at once and no more, in order, whatever becomes of one", async () => {
  const enter = openTurnstile(2);
  let [inside, most] = [0, 0];
  const order: number[] = [];
  const task = (index: number) => async () => {
    order.push(index);
    most = Math.max(most, ++inside);
    await new Promise(setImmediate);
    inside--;
    if (index === 1) throw new Error("one fails");
    return index;
  };
  const ended = await Promise.allSettled([0, 1, 2, 3, 4].map((index) => enter(task(index))));
  expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled", "fulfilled"]);
  expect([most, order]).toEqual([2, [0, 1, 2, 3, 4]]);
});

test("whoever is aborted leaves the line and takes no place", async () => {
  const enter = openTurnstile(1);
  let finish: () => void = () => undefined;
  const first = enter(() => new Promise<void>((resolve) => (finish = resolve)));
  const stop = new AbortController();
  const second = enter(async () => "never", stop.signal);
  const third = enter(async () => "third");
  stop.abort(new Error("stopped"));
  await expect(second).rejects.toThrow("stopped");
  await expect(enter(async () => "no", stop.signal)).rejects.toThrow("stopped");
  finish();
  expect([await first, await third, await enter(async () => "next")]).toEqual([undefined, "third", "next"]);
});
