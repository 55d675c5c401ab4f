import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Column, cut, renderColumns } from "./columns.js";

/** Wide characters count two. */
const width = (text: string) => [...text].reduce((sum, one) => sum + ((one.codePointAt(0) ?? 0) > 0x2e80 ? 2 : 1), 0);
const columns: readonly Column[] = [
  { title: "ID", least: 4 },
  { title: "N", align: "right" },
  { title: "COST", drop: 1 },
  { title: "TITLE", least: 5, drop: 2 },
];
const rows = [
  ["a-long-id", "1", "$0.10", "first title"],
  ["b", "20", "-", "x"],
];

describe("renderColumns", () => {
  it.each([
    [null, ["ID          N  COST   TITLE", "a-long-id   1  $0.10  first title", "b          20  -      x"]],
    [27, ["ID         N COST  TITLE", "a-long-id  1 $0.10 first t…", "b         20 -     x"]],
    [23, ["ID        N COST  TITLE", "a-long-…  1 $0.10 firs…", "b        20 -     x"]],
    [16, ["ID       N COST", "a-long…  1 $0.10", "b       20 -"]],
    [9, ["ID      N", "a-lon…  1", "b      20"]],
    [6, ["ID   N", "a-…  1", "b   20"]],
  ])("cuts the least important first, then drops it, to fit %j columns", (limit, lines) => {
    expect(renderColumns(columns, rows, { columns: limit, width })).toEqual(lines);
  });

  it("paints cells after padding them", () => {
    const paint = (text: string, at: { row: number | null; column: string }) =>
      at.row === 1 && at.column === "N" ? `<${text}>` : text;
    expect(renderColumns(columns.slice(0, 2), rows, { columns: null, width, paint })[2]).toBe("b          <20>");
  });

  it("is never wider than it may be, however little that is", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string(), fc.constant("1"), fc.constant("$1"), fc.string()), { maxLength: 4 }),
        fc.integer({ min: 3, max: 60 }),
        (cells, limit) => {
          for (const line of renderColumns(columns, cells, { columns: limit, width }))
            expect(width(line)).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });
});

describe("cut", () => {
  it.each([
    ["abc", 3, "abc"],
    ["abcd", 3, "ab…"],
    ["漢字漢字", 5, "漢字…"],
    ["漢字漢字", 4, "漢…"],
    ["ab", 1, "…"],
    ["ab", 0, ""],
  ])("%s in %d is %s", (text, max, cutText) => {
    expect(cut(text, max, width)).toBe(cutText);
  });
});
