import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuTimer } from "../../test/cpu-timer.js";
import { JsonNesting } from "../lib/json-nesting.js";
import { findObjects } from "../lib/json-objects.js";
import { readVerdict, toVerdict } from "./verdict.js";

const finding = { file: "a.ts", line_start: 1, line_end: 2, priority: 1, title: "T", body: "B" };
const fail = JSON.stringify({ verdict: "fail", findings: [finding] });
const cutOff = "protocol: the last JSON object of the output is broken or cut off";
const within = "protocol: the pass stands within a JSON object that is broken";
const listed = "protocol: the verdict is one of several in a list";
const twice = (key: string) => `protocol: "${key}" is given twice, and not the same`;
const pass = '{"verdict": "pass", "findings": []}';

function read(text: string, whole = true): string {
  const reading = readVerdict({ text, before: whole ? null : new JsonNesting() });
  return reading.type === "protocol" ? `protocol: ${reading.reason}` : `${reading.verdict} ${reading.findings.length}`;
}

describe("the verdict of an output", () => {
  test.each([
    ["alone", pass, "pass 0"],
    ["pretty-printed", JSON.stringify(JSON.parse(fail), null, 2), "fail 1"],
    ["in a code fence", `Here:\n\`\`\`json\n${fail}\n\`\`\`\nThat is all.`, "fail 1"],
    ["in nested code fences", `\`\`\`\`md\n\`\`\`json\n${fail}\n\`\`\`\n\`\`\`\``, "fail 1"],
    ["after its own example", `I answer like ${pass}.\n\n${fail}`, "fail 1"],
    ["before braces in prose", `${fail} } } { like {} or {this}`, "fail 1"],
    ["before another object", `${pass}\n{"tokens": 5}`, "protocol: the last JSON object of the output has no verdict"],
    ["before empty braces", `${pass}\nI looked at () => {} too.`, "pass 0"],
    ["before a cut-off one", `${pass} no wait: ${fail.slice(0, -1)}`, cutOff],
    ["before one cut off in a finding", `${pass} no wait: ${fail.slice(0, -9)}`, cutOff],
    ["before a broken one", `${pass} no wait: {verdict: "fail"}`, cutOff],
    ["before an open brace", `${pass} {`, cutOff],
    ["inside a broken one", `{"verdict":"fail","findings":[${pass}, that is`, "protocol: no verdict in the output"],
    ["after an open quote and brace", `he said "{ and left\n{"x": "unfinished\n${fail}`, "fail 1"],
    [
      "with brackets in strings",
      JSON.stringify({ verdict: "fail", findings: [{ ...finding, body: '}]}" {"a" ```' }] }),
      "fail 1",
    ],
    ["as words of a broken one", `{"verdict":"fail","findings":[{"body":"it returns "${pass}" always"}]}`, within],
    ["as code in a broken one", `{"verdict":"fail","findings":[{"body":"x:\nreturn ${pass};\nno"}]}`, within],
    ["in one whose beginning is not there", `BBB","meta":${pass}}]}`, within],
    ["in one that begins in another way", `{verdict: "fail", meta: ${pass}; done }`, within],
    ["before a closing brace in prose", `${pass}\n\`\`\`\nThe \`}\` in line 3 looks misplaced but is not.`, "pass 0"],
    ["before a smile", `${pass} All good :-}`, "pass 0"],
    ["between an open brace and a closing one", `The block { is fine. ${pass} So is its }.`, within],
    ["before one brace too many", `${pass}}`, within],
    ["in one whose end is not there", `{"verdict":"fail","findings":[{"body":"says "${pass}" alw`, within],
    ["after a form to fill in", `{"verdict": "pass"|"fail", "findings": […]}\n${pass}`, "pass 0"],
    ["after one with braces in its strings", `{"note": "{ {\\"a"}\n${pass}`, "pass 0"],
    ["after code", `The body \`{ return x\` is cut off.\n${pass}`, "pass 0"],
    ["with escapes", '{"verdict":"pass","note":"\\"\\\\\\u007b"}', "pass 0"],
    ["without findings", '{"verdict":"pass"}', "pass 0"],
    ["in capitals", '{"verdict":" PASS "}', "pass 0"],
    [
      "that quotes another verdict in a string",
      JSON.stringify({ verdict: "fail", findings: [{ ...finding, body: pass }] }),
      "fail 1",
    ],
    ["that has another inside", '{"verdict":"fail","findings":[{"verdict":"pass","priority":1}]}', "fail 1"],
    ["with null findings", '{"verdict":"pass","findings":null}', "pass 0"],
    ["missing", "all good, verdict: pass", "protocol: no verdict in the output"],
    ["only inside another object", `{"history": [${pass}]}`, "protocol: no verdict in the output"],
    ["empty", "", "protocol: no verdict in the output"],
    ["cut off", fail.slice(0, -1), "protocol: no verdict in the output"],
    ["neither pass nor fail", '{"verdict":"maybe"}', 'protocol: "maybe" is no verdict'],
    ["no word", '{"verdict":true}', "protocol: true is no verdict"],
    ["fail without a finding", '{"verdict":"fail","findings":[]}', "protocol: fail without any finding"],
    [
      "fail with something among its findings that is none",
      '{"verdict":"fail","findings":[{"title":"t","priority":3},"P0: data is lost"]}',
      'protocol: "P0: data is lost" is no finding: an object with a title',
    ],
    [
      "pass with something among its findings that is none",
      '{"verdict":"pass","findings":[null]}',
      "protocol: null is no finding: an object with a title",
    ],
    ["with findings that are no list", '{"verdict":"pass","findings":{}}', "protocol: findings is not a list"],
    ["with a bad escape", '{"verdict":"pass","x":"\\q"}', "protocol: the last JSON object of the output is broken"],
    ["twice the same", '{"verdict":"pass","verdict":"pass"}', "pass 0"],
    ["twice, fail first", '{"verdict":"fail","verdict":"pass"}', twice("verdict")],
    ["twice, once in disguise", 'so {"verdict":"fail","verd\\u0069ct":"pass"} it is', twice("verdict")],
    ["with its key in capitals", '{"VERDICT":"pass","Findings":[{"Priority":0,"Title":"T"}]}', "pass 1"],
    ["twice, once in capitals", '{"Verdict":"fail","verdict":"pass"}', twice("verdict")],
    ["twice, once in capitals and the same", '{"Verdict":"pass","verdict":"pass"}', "pass 0"],
    ["twice, and the same without regard to case", '{"verdict":"pass","Verdict":" PASS"}', "pass 0"],
    [
      "with a severity twice, and the same without regard to case",
      '{"verdict":"pass","findings":[{"priority":3,"severity":"Low","Severity":"low"}]}',
      "pass 1",
    ],
    [
      "with findings twice, once in capitals",
      '{"verdict":"pass","Findings":[{"priority":0}],"findings":[]}',
      twice("findings"),
    ],
    [
      "with a priority twice, once in capitals",
      '{"verdict":"pass","findings":[{"Priority":0,"priority":3}]}',
      twice("priority"),
    ],
    [
      "with a list in capitals twice",
      '{"verdict":"pass","Findings":[{"priority":0}],"Findings":[]}',
      twice("Findings"),
    ],
    [
      "with a priority twice in a list in capitals",
      '{"verdict":"pass","Findings":[{"priority":0,"priority":3}]}',
      twice("priority"),
    ],
    ["with something else twice in a finding", '{"verdict":"pass","findings":[{"ID":1,"id":2}]}', "pass 1"],
    ["in a list", `[${pass}]`, "pass 0"],
    ["in a list after another", `[${fail},\n${pass}]`, listed],
    ["in a list before another", `Both: [${pass}, ${fail}]`, listed],
    ["in a list after another and something else", `[[${fail}], {"note": 1}, [${pass}]]`, listed],
    ["in a list after another and a text", `[${fail}, "x, [y] \\" {", ${pass}]`, listed],
    ["in a list before another and a text", `[${pass}, "x", ${fail}]`, listed],
    ["in a list with others that say nothing", `[${fail}, {}, 5, [${pass}, null], -1.5]`, listed],
    ["in a list after another that is cut off", `[${fail}, "x", true, ${pass}`, listed],
    ["in a list whose beginning is not there", `${fail}, ${pass}]`, listed],
    ["after another and a text without a list", `${fail} "so to speak" ${pass}`, "pass 0"],
    ["after another in the same sentence", `Not ${fail}, but ${pass}`, "pass 0"],
    ["with a priority given twice", '{"verdict":"pass","findings":[{"priority":0,"priority":3}]}', twice("priority")],
  ])("%s is read", (_how, text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test("behind a beginning that was left out every closing brace may be that of another object", () => {
    expect(read(`return ${pass};\nno"}]}`, false)).toBe(within);
    expect(read(`${"x".repeat(1024 * 1024)}${pass} All good :-}`)).toBe(within);
    expect(read(`${pass} All good.`, false)).toBe("pass 0");
  });

  test.each([
    ["at its end", ""],
    ["behind the next key", ', "model": "x'],
    ["with a word behind it", "\nKilled\n"],
  ])("a fail of more than a megabyte that is cut off %s is no pass that it has in it", (_where, rest) => {
    const long = { verdict: "fail", findings: [{ ...finding, body: "z".repeat(1_200_000) }] };
    const history = JSON.stringify({ ...long, previous: JSON.parse(pass) }).slice(0, -1);
    for (const text of [history, `[${JSON.stringify(long)}, ${pass}`, `{"a": ${JSON.stringify(long)}, "b": ${pass}`])
      expect(read(`Thinking {about it}.\n${text}${rest}`)).toMatch("protocol");
    const badly = history.replace("zz", 'z" } }] }"z');
    expect(read(`${badly}${rest}`)).toMatch("protocol");
    expect(read(`${badly.slice(0, 200)}${rest}`)).toMatch("protocol");
  });

  test.each([
    ["prose", "I looked at `{ return x` and at [1], (a {b) and {this}: it's fine.\n"],
    ["JSON lines", '{"type":"text","text":"a \\" } ] {\\"","list":[1,-2.5e3,true,null,{}]}\n'],
    ["code", 'const a = {"b": c, "d": [e]};\nif (x) { y("{}"); }\n'],
    ["log lines", "[WARN] [2026-01-01T00:00:00] \u001b[1mdone\u001b[0m {id: 7}\n"],
    ["a diff", '-  "scripts": {\n+  "scripts": { "a": "b", },\n   }\n'],
  ])("a pass behind more than a megabyte of %s is one", (_what, line) => {
    expect(read(`${line.repeat(Math.ceil((1024 * 1024 * 1.5) / line.length))}${pass}\n`)).toBe("pass 0");
  });

  test("only the last megabyte is looked at", () => {
    expect(read(`${fail}${" ".repeat(1024 * 1024)}`)).toMatch("protocol");
    expect(read(`${"{".repeat(3_000_000)}${fail}`)).toBe("fail 1");
  });
});

test.each([
  [{ priority: 4 }, "fail"],
  [{ priority: -1 }, "fail"],
  [{ priority: "critical" }, "fail"],
  [{ priority: "critical" }, "pass"],
  [{ priority: true }, "fail"],
  [{ title: "no priority at all" }, "fail"],
  [{ severity: "P0" }, "pass"],
  [{ Severity: "critical", title: "no priority of ours" }, "pass"],
  [{ priority: 3, severity: "sev-1" }, "pass"],
  [{ priority: null, severity: 9.8 }, "pass"],
])("the finding %j of a %s is a protocol failure: what it blocks is not known", (given, verdict) => {
  expect(toVerdict({ verdict, findings: [finding, given] })).toMatchObject({ type: "protocol" });
});

test.each(["review.md", "epic_verification.md"])("a reviewer that only repeats %s has said nothing", (name) => {
  const template = readFileSync(new URL(`../../prompts/${name}`, import.meta.url), "utf8");
  expect(template).toContain("one line that names");
  expect(readVerdict({ text: template, before: null }).type).toBe("protocol");
});

describe("whatever a reviewer prints", () => {
  const piece = fc.oneof(
    fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "verdict", '"verdict"', "pass", " ", "\n", "```", "1"),
    fc.json(),
    fc.string({ unit: "binary" }),
  );
  const noise = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));

  test("reading it never throws", () => {
    fc.assert(
      fc.property(noise, (text) => readVerdict({ text, before: null }).type !== undefined),
      { numRuns: 2000 },
    );
  });

  test("a verdict on a line of its own at the end is found behind any noise", () => {
    fc.assert(
      fc.property(noise, (text) => {
        // A brace or bracket left open may take the verdict for its own part: then there is no pass, but never another one.
        const said = read(`${text}\n${fail}`);
        expect(["fail 1", cutOff, listed, "protocol: no verdict in the output"]).toContain(said);
        if (!/[{[]/.test(text)) expect(said).toBe("fail 1");
      }),
      { numRuns: 2000 },
    );
  });

  test("an object is found exactly when JSON.parse takes it", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(3), (value, indent) => {
        const text = JSON.stringify({ ...value, verdict: 1 }, null, indent);
        expect(findObjects(text, "verdict")).toEqual([{ start: 0, end: text.length, hasKey: true }]);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["open objects", '{"a":'],
    ["braces", "{"],
    ["empty objects", "{}"],
    ["open strings", '{"'],
    ["arrays", '{"a":[['],
    ["objects in arrays", '[{"a":1},'],
    ["escaped quotes", '\\"{'],
    ["spaces", "{    "],
    ["pairs", '{"a":{},"b":'],
    ["verdicts", '{"verdict":"pass"}'],
    ["verdicts and open strings", '{"verdict":"pass"}, "\\"\\"'],
  ])("a megabyte of %s takes linear time", (_what, unit) => {
    const text = unit.repeat(Math.ceil((1024 * 1024) / unit.length));
    const spentMs = cpuTimer();
    readVerdict({ text, before: new JsonNesting() });
    readVerdict({ text: `${text}"}]}`, before: new JsonNesting() });
    readVerdict({ text: `${pass}, "${text}\\${pass}`, before: new JsonNesting() });
    readVerdict({ text: `${pass}, ${text}\\${pass}`, before: new JsonNesting() });
    expect(spentMs()).toBeLessThan(20_000);
  });
});

const broken = '{"verdict":"fail","findings":[{"priority":0,"title":"Data loss"},]}';
test.each([
  ["a broken one before it", `[${broken}, ${pass}]`, listed],
  ["one in other quotes before it", `[{'verdict':'fail','findings':[{'priority':0}]}, ${pass}]`, listed],
  ["no comma between them", `[${fail} ${pass}]`, listed],
  ["a broken one before it, and something behind", `[${broken}, ${pass}, "done"]`, listed],
  ["a broken one before it, and a number behind", `[${broken}, ${pass}, 5]`, listed],
  ["a broken one before its own list", `[${broken}, [${pass}]]`, listed],
  ["its beginning cut off", `y"}]}, ${pass}]`, listed],
  ["nothing else in it", `[${pass}]`, "pass 0"],
  ["prose around it", `I looked at [1], [2], ${pass} (see [3])`, "pass 0"],
])("a pass in a list with %s", (_what, text, expected) => {
  expect(read(text, !text.startsWith("y"))).toBe(expected);
});

const misplaced = (key: string) => `protocol: "${key}" is no key for findings`;
const nested = "protocol: one of the findings has findings of its own";
test.each([
  ['{"verdict":"pass","issues":[{"priority":0,"title":"T"}]}', 'protocol: "issues" is no key for findings'],
  ['{"verdict":"pass","Finding":[{"severity":"P0"}]}', 'protocol: "Finding" is no key for findings'],
  ['{"verdict":"pass","MEMBERS":{"by":{"jo":{"Priority":"P0"}}}}', 'protocol: "MEMBERS" is no key for findings'],
  ['{"verdict":"pass","PREVIOUS":{"by":{"jo":{"Priority":"P0"}}}}', "pass 0"],
  ['{"verdict":"pass","rounds":[[{"findings":[{"priority":0}]}]]}', 'protocol: "rounds" is no key for findings'],
  ['{"verdict":"pass","findings":[{"name":"jo","findings":[{"priority":0}]}]}', nested],
  ['{"verdict":"pass","findings":[{"file":"a.c","title":"group","priority":3,"items":[{"priority":0}]}]}', nested],
  ['{"verdict":"pass","findings":[{"priority":3,"by":{"jo":[[{"Severity":"low"}]]}}]}', nested],
  ['{"verdict":"fail","findings":[{"reviewer":"sec","priority":null,"findings":[{"priority":0}]}]}', nested],
  ['{"verdict":"fail","findings":[{"priority":0},{"priority":1,"items":[{"priority":1}]}]}', nested],
  ['{"verdict":"pass","findings":[{"priority":3,"range":{"from":3,"to":4}}]}', "pass 1"],
  [
    '{"verdict":"fail","findings":[{"priority":3}],"issues":[{"priority":0}]}',
    'protocol: "issues" is no key for findings',
  ],
  [
    '{"verdict":"fail","findings":[{"priority":3}],"issues":[{"severity":"??"}]}',
    'protocol: "issues" is no key for findings',
  ],
  ['{"verdict":"fail","findings":[{"priority":1}],"settled":[{"severity":"high"},{"priority":null}]}', "fail 1"],
  ['{"verdict":"pass","checked":["a.ts"],"notes":[{"text":"fine"}]}', "pass 0"],
  ['{"verdict":"pass","findings":[],"issues":["P0: data loss in a.c:12"]}', misplaced("issues")],
  ['{"verdict":"pass","blocking_findings":["","data loss"]}', misplaced("blocking_findings")],
  ['{"verdict":"pass","blocking_findings":"P0: data loss"}', misplaced("blocking_findings")],
  ['{"verdict":"pass","Open Bugs":"data loss"}', misplaced("Open Bugs")],
  ['{"verdict":"pass","review":{"blockingIssues":["it loses data"]}}', misplaced("review")],
  ['{"verdict":"pass","notes":["looked at a.c","[P1] a.c loses data"]}', misplaced("notes")],
  ['{"verdict":"pass","notes":["fine",["- **p0** data loss"]]}', misplaced("notes")],
  ['{"verdict":"pass","notes":["P2 - slow"]}', misplaced("notes")],
  [
    '{"verdict":"pass","summary":"P0: nothing like that was found","notes":["P0-P3 were looked for","P2P works"]}',
    "pass 0",
  ],
  [
    '{"verdict":"pass","issues":"none","bugs":["None found."],"blockers":"-","defects":" n/a ","problems":["", null]}',
    "pass 0",
  ],
  [
    '{"verdict":"pass","issues":[],"blocking_findings":["No blocking issues were found"],"notes":["P0: none"]}',
    "pass 0",
  ],
  ['{"verdict":"pass","issues":0,"bugs":false,"issue":"fix-it","resolved_issues":["P0: data was lost"]}', "pass 0"],
  ['{"verdict":"pass","issues":["none of the callers checks the result"]}', misplaced("issues")],
  ['{"verdict":"fail","findings":[{"priority":3}],"notes":["P0: data loss"]}', misplaced("notes")],
  ['{"verdict":"fail","findings":[{"priority":3}],"issues":["data loss"]}', misplaced("issues")],
  ['{"verdict":"fail","findings":[{"priority":1}],"issues":["P1: the same"],"notes":["P3: a nit"]}', "fail 1"],
])("findings that stand elsewhere are not passed over: %s", (text, expected) => {
  expect(read(text)).toBe(expected);
});

const denied = (key: string) => `protocol: "${key}" denies the pass`;
test.each([
  ['{"verdict":"pass","approved":false}', denied("approved")],
  ['{"verdict":"pass","blocking":true}', denied("blocking")],
  ['{"verdict":"pass","has_blocking_issues":true}', denied("has_blocking_issues")],
  ['{"verdict":"pass","Blocking Issues":2}', denied("Blocking Issues")],
  ['{"verdict":"pass","status":"FAIL"}', denied("status")],
  ['{"verdict":"pass","decision":"request_changes"}', denied("decision")],
  ['{"verdict":"pass","final":{"verdict":"fail"}}', denied("final")],
  ['{"verdict":"pass","final_verdict":"FAIL"}', denied("final_verdict")],
  ['{"verdict":"pass","overall":"Failed"}', denied("overall")],
  ['{"verdict":"pass","status":"blocked"}', denied("status")],
  ['{"verdict":"pass","recommendation":"request changes"}', denied("recommendation")],
  ['{"verdict":"pass","decision":"needs work"}', denied("decision")],
  ['{"verdict":"pass","decision":"REJECT: the file is lost on a crash"}', denied("decision")],
  ['{"verdict":"pass","recommendation":"Do not merge until the fsync is there"}', denied("recommendation")],
  ['{"verdict":"pass","overall":"fail - data loss"}', denied("overall")],
  ['{"verdict":"pass","approved":"no, see above"}', denied("approved")],
  ['{"verdict":"pass","approved":"not yet"}', denied("approved")],
  ['{"verdict":"pass","overall":"No failures. Blocked jobs are retried.","recommendation":"merge as it is"}', "pass 0"],
  ['{"verdict":"pass","approved":"no"}', denied("approved")],
  ['{"verdict":"pass","approve":0}', denied("approve")],
  ['{"verdict":"pass","lgtm":false}', denied("lgtm")],
  ['{"verdict":"pass","blocking_issues_count":2}', denied("blocking_issues_count")],
  ['{"verdict":"pass","blockerCount":3}', denied("blockerCount")],
  ['{"verdict":"pass","critical_issues":1}', denied("critical_issues")],
  ['{"verdict":"pass","must_fix":true}', denied("must_fix")],
  ['{"verdict":"pass","reviewers":[{"name":"jo","approved":false}]}', denied("reviewers")],
  ['{"verdict":"pass","review":{"decision":"request_changes"}}', denied("review")],
  ['{"verdict":"pass","comments":[{"text":"a leak","blocking":true}]}', denied("comments")],
  ['{"verdict":"pass","members":[{"name":"jo","Verdict":"fail"}]}', denied("members")],
  ['{"verdict":"pass","previous":{"verdict":"fail"},"rounds":[{"previous":{"verdict":"fail"}}]}', "pass 0"],
  [
    '{"verdict":"pass","approved":true,"blocking":false,"blocking_issues":0,"status":"done","checks":{"status":"fail"}}',
    "pass 0",
  ],
  [
    '{"verdict":"pass","critical_issues":0,"must_fix":false,"approved":"yes","decision":"approve","has_issues":true}',
    "pass 0",
  ],
  ['{"verdict":"pass","fixed":[{"verdict":"fail"}],"passed":42,"tests":{"passed":0,"blocked":true}}', "pass 0"],
  ['{"verdict":"pass","summary":"fail","confidence":0.9,"files_reviewed":["a.ts"],"errors":[]}', "pass 0"],
  ['{"verdict":"fail","findings":[{"priority":1}],"approved":false}', "fail 1"],
])("a pass that denies itself is none: %s", (text, expected) => {
  expect(read(text)).toBe(expected);
});

test("findings that stand elsewhere are not passed over, however deep", () => {
  const deep = `${"[".repeat(9000)}{"priority":0}${"]".repeat(9000)}`;
  expect(read(`{"verdict":"pass","deep":${deep}}`)).toBe('protocol: "deep" is no key for findings');
});
