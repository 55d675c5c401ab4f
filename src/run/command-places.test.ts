import { expect, it } from "vitest";
import { createCommandPlaces } from "./command-places.js";

const never = new AbortController().signal;
const ask = (holder: string, { goesFirst = false, signal = never } = {}) => ({ holder, goesFirst, signal });

/** Places, and tasks that begin in the order told and end when they are told to. */
function world(most: number) {
  const places = createCommandPlaces(most);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const use = (holder: string, more = {}) =>
    places.use(ask(holder, more), async () => {
      begun.push(holder);
      await new Promise<void>((resolve) => ends.set(holder, resolve));
    });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { places, begun, use, settled, end: (holder: string) => ends.get(holder)?.() };
}

it("lets no more lives run commands at once than there are places; those nearer to their end go first", async () => {
  const { places, begun, use, settled, end } = world(2);
  const all = [use("a"), use("b"), use("c"), use("d"), use("landing", { goesFirst: true })];
  await settled();
  expect(begun).toEqual(["a", "b"]);
  for (const holder of ["a", "b", "landing", "c"]) {
    end(holder);
    await settled();
    places.giveBack(holder);
    await settled();
  }
  expect(begun).toEqual(["a", "b", "landing", "c", "d"]);
  end("d");
  await Promise.all(all);
});

it("keeps the place of a life between two of its commands, and to the end of one that nobody owes any more", async () => {
  const { places, begun, use, settled, end } = world(1);
  const first = use("a");
  const other = use("b");
  await settled();
  end("a");
  await first;
  const second = use("a");
  await settled();
  places.giveBack("a");
  await settled();
  expect(begun).toEqual(["a", "a"]);
  end("a");
  await second;
  await settled();
  expect(begun).toEqual(["a", "a", "b"]);
  end("b");
  await other;
});

it("ends a wait when it is aborted, and frees the place of a command that was aborted", async () => {
  const { begun, use, settled, end } = world(1);
  const abort = new AbortController();
  const first = use("a", { signal: abort.signal });
  const second = use("b", { signal: abort.signal });
  const third = use("c");
  await settled();
  abort.abort(new Error("let go"));
  await expect(second).rejects.toThrow("let go");
  end("a");
  await first;
  await settled();
  expect(begun).toEqual(["a", "c"]);
  end("c");
  await third;
});
