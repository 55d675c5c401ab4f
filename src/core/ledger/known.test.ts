import { describe, expect, it } from "vitest";
import type { Finding, Remark } from "../finding.js";
import { isNear } from "./identity.js";
import { KnownFindings, Places } from "./known.js";
import { add, emptyLedger, raise } from "./ledger.js";

const who = { source: "review", reviewer: "r", outcome: "fail", visit: 1, at: 1, commit: null, runId: "run" } as const;
const remarks = (count: number, title: string): Remark[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ file: "a.ts", line_start: at * 10, line_end: at * 10, priority: 1 },
    ...{ title: `${title} ${at}`, body: { text: "" } },
  }));

describe("a long visit of a long ledger", () => {
  /** How often anything is asked of the findings that the ledger has. */
  const looks = (count: number, stage: string): number => {
    let asked = 0;
    const { ledger } = raise(emptyLedger("i"), { ...who, stage: "one", remarks: remarks(count, "alpha") });
    const counted = (finding: Finding) =>
      new Proxy(finding, {
        get: (target, key) => {
          asked += 1;
          return Reflect.get(target, key);
        },
      });
    add({ ...ledger, findings: ledger.findings.map(counted) }, { ...who, stage, remarks: remarks(count, "beta") });
    return asked;
  };

  it.each(["one", "two"])("looks at what is near a remark, not at all there is: stage %s", (stage) => {
    expect(looks(400, stage) / looks(100, stage)).toBeLessThan(5);
  });
});

describe("places", () => {
  const place = (line_start: number, line_end = line_start, file = "a.ts") => ({ file, line_start, line_end });

  it("find all that is near, however long", () => {
    const all = [place(31), place(32), place(0, 9000), place(700), place(31, 31, "./a.ts"), place(31, 31, "b.ts")];
    const places = new Places();
    for (const [index, one] of all.entries()) places.add(one, index);
    for (const asked of [...all, place(28), place(35), place(36), place(600, 2000), place(3, 1)]) {
      const found = places.near(asked).filter((index) => isNear(all[index] ?? asked, asked));
      expect(found).toEqual(all.flatMap((one, index) => (isNear(one, asked) ? [index] : [])));
    }
  });
});

it("an id is the first that is free, each time another", () => {
  const { ledger } = raise(emptyLedger("i"), { ...who, stage: "one", remarks: remarks(1, "alpha") });
  const [first] = ledger.findings;
  const known = new KnownFindings(first ? [first, { ...first, id: `${first.id}-3` }] : []);
  const base = first?.id ?? "";
  expect([known.takeId(base), known.takeId(base), known.takeId("new")]).toEqual([`${base}-2`, `${base}-4`, "new"]);
});
