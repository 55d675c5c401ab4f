import fc from "fast-check";
import { expect, test } from "vitest";
import { contradictoryKey } from "./contradiction.js";

test.each([
  ['{"a":1,"a":2}', "a"],
  ['{"a":1,"\\u0061":2}', "a"],
  ['{"a":{"b":[{"c":1,"d":2,"c":[1]}]}}', "c"],
  ['[{"a":1,"b":{"a":2}},{"a":3}]', null],
  ['{"a":"x" , "b":[], "a": "x"}', null],
  ['{"a":"\\"a\\":1,","b":"}","c":":"}', null],
  ["{}", null],
  ["3", null],
])("of %s the key that contradicts itself is %j", (json, key) => {
  expect(contradictoryKey(json)).toBe(key);
});

test.each([
  ['{"note":1,"note":2,"verdict":"pass"}', null],
  ['{"usage":{"cost":1,"cost":2},"verdict":"pass","usage":3}', null],
  ['{"verdict":"fail","verdict":"pass"}', "verdict"],
  ['{"note":1,"note":2,"verdict":"fail","verdict":"pass"}', "verdict"],
  ['{"findings":[{"title":"a","title":"b"}],"note":{}}', "title"],
  ['{"Findings":[{"title":"a","title":"b"}],"note":{}}', "title"],
  ['[{"note":1,"note":2}]', "note"],
])("of %s the key that contradicts itself about the verdict or a finding is %j", (json, key) => {
  expect(contradictoryKey(json, ["verdict", "findings"])).toBe(key);
});

test("no value that was written from memory contradicts itself, and one that is given another time does", () => {
  fc.assert(
    fc.property(fc.json(), fc.string(), (json, key) => {
      const member = `${JSON.stringify(key)}:`;
      expect(contradictoryKey(json)).toBeNull();
      expect(contradictoryKey(`[{${member}${json},${member}${json}}]`)).toBeNull();
      expect(contradictoryKey(`[{${member}${json},"":0,${member}[${json}]}]`)).not.toBeNull();
    }),
  );
});
