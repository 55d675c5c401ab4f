import { expect, test } from "vitest";
import { cpuTimer } from "../../test/cpu-timer.js";
import { lastWord } from "./last-word.js";

const frames = `    at file:///x/t.mjs:1:7
    at async asyncRunEntryPointWithESMLoader (node:internal/modules/run_main:117:5)`;

/** As Node.js shows an error that nobody caught. */
function crash(error: string, thrown = 'throw new TypeError("x")') {
  return `file:///x/t.mjs:1\n${thrown}\n      ^\n\n${error}\n\nNode.js v20.20.2\n`;
}

/** As npm shows what it has to say. */
function npm(text: string, prefix = "npm error") {
  const lines = text.split("\n").map((line) => `${prefix} ${line}`.trimEnd());
  return `npm warn Unknown user config "x".\n${lines.join("\n")}\n${prefix} A complete log of this run can be found in: /root/.npm/_logs/2026-11-19T22_08_42_199Z-debug-0.log\n`;
}

const usage =
  '\nClean install a project\n\nUsage:\nnpm ci\n\nOptions:\n[--no-audit]\n\nRun "npm help ci" for more info';
const scriptFailed = "code 1\npath /x/ws\nworkspace ws@1.0.0\nlocation /x/ws\ncommand failed\ncommand sh -c node t.mjs";

test.each([
  ["a thrown error", crash(`TypeError: no such shop\n${frames}`), "TypeError: no such shop"],
  ["a message of two lines", crash(`Error: outer\nsecond line\n${frames}`), "Error: outer"],
  [
    "an error with properties",
    crash(
      `Error: Cannot find module './x'\nRequire stack:\n- /x/m.cjs\n${frames} {\n  code: 'X',\n  errors: [\n    1\n  ]\n}`,
    ),
    "Error: Cannot find module './x'",
  ],
  [
    "an assertion",
    crash(
      `AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n1 !== 2\n\n${frames} {\n  actual: 1\n}`,
    ),
    "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal: 1 !== 2",
  ],
  ["a cause", crash(`Error: outer\n${frames} {\n  [cause]: TypeError: inner\n  ${frames}\n}`), "Error: outer"],
  ["a thrown text", crash("abc\n(Use `node --trace-uncaught ...` to show where the exception was thrown)"), "abc"],
  ["an error without a place", `Error: boo\n${frames}\n\nNode.js v20.20.2\n`, "Error: boo"],
  [
    "an error that was printed",
    `ReferenceError: nosuch is not defined\n${frames}\n`,
    "ReferenceError: nosuch is not defined",
  ],
  [
    "a printed error with properties",
    `starting\nError: connect ECONNREFUSED 127.0.0.1:1\n${frames}\nEmitted 'error' event on Socket instance at:\n${frames} {\n  port: 1\n}\n`,
    "Error: connect ECONNREFUSED 127.0.0.1:1",
  ],
  ["what is no error by its name", `Error: handled\n${frames}\nGiven up: no shop\n${frames}\n`, "Given up: no shop"],
  ["nothing but the version", "Node.js v20.20.2\n", "Node.js v20.20.2"],
])("of a program of Node.js that ends with %s, it is that", (_what, stderr, word) => {
  expect(lastWord(stderr, "")).toBe(word);
});

test.each([
  ["a script that threw", crash(`TypeError: x\n${frames}`), "TypeError: x"],
  [
    "a workspace's script",
    `Error: boo\n${frames}\n${npm(`Lifecycle script \`test\` failed with error:\n${scriptFailed}`)}`,
    "Error: boo",
  ],
  [
    "a workspace's script, as npm 10 tells it",
    `Error: boo\n${frames}\n${npm("Lifecycle script `test` failed with error:\nError: command failed\n  in workspace: ws@1.0.0\n  at location: /x/ws", "npm ERR!")}`,
    "Error: boo",
  ],
  [
    "a package's script",
    npm(`code 1\npath /x/dep\ncommand failed\ncommand sh -c node t.mjs\n${crash(`Error: outer\n${frames}`)}`),
    "Error: outer",
  ],
  ["a package's script with output of its own", `Error: own\n${frames}\n${npm(scriptFailed)}`, "Error: own"],
  ["no such script", npm('Missing script: "x"\n\nTo see a list of scripts, run:\n  npm run'), 'Missing script: "x"'],
  [
    "npm ci without a lock file",
    npm(
      `code EUSAGE\n\nThe \`npm ci\` command can only install with an existing package-lock.json or\nnpm-shrinkwrap.json${usage}`,
    ),
    "The `npm ci` command can only install with an existing package-lock.json or",
  ],
  [
    "npm ci with another lock file",
    npm(
      `code EUSAGE\n\n\`npm ci\` can only install packages when they are in sync.\n\nMissing: left-pad@1.0.0 from lock file\n${usage}`,
    ),
    "`npm ci` can only install packages when they are in sync.",
  ],
  [
    "no package",
    npm("code E404\n404 Not Found - GET https://r.example/x - Not found\n404\n404  'x@1' is not in this registry."),
    "404 Not Found - GET https://r.example/x - Not found",
  ],
  [
    "no package.json",
    npm("code ENOENT\nsyscall open\npath /x/package.json\nerrno -2\nenoent Could not read package.json\nenoent"),
    "enoent Could not read package.json",
  ],
  [
    "no network",
    npm(
      `code ECONNREFUSED\nsyscall connect\nerrno ECONNREFUSED\nFetchError: request failed\n${frames} {\n  port: 9\n}\n\nIf you are behind a proxy`,
    ),
    "FetchError: request failed",
  ],
  [
    "nothing",
    npm(""),
    "npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-19T22_08_42_199Z-debug-0.log",
  ],
])("of npm that ends with %s, it is that", (_what, stderr, word) => {
  expect(lastWord(stderr, "")).toBe(word);
});

test.each([
  [
    "warnings of npm",
    "npm warn deprecated x\n",
    "\n> a@1.0.0 test\n> sh t.sh\n\nthree of four shops are closed\n",
    "three of four shops are closed",
  ],
  [
    "make",
    "cc: fatal error: no input files\nmake: *** [Makefile:2: all] Error 1\n",
    "",
    "cc: fatal error: no input files",
  ],
  [
    "make itself",
    "make: *** No rule to make target 'tset'.  Stop.\n",
    "",
    "make: *** No rule to make target 'tset'.  Stop.",
  ],
  [
    "yarn",
    "boo\nerror Command failed with exit code 1.\n",
    "info Visit https://yarnpkg.com/en/docs/cli/run for it.\n",
    "boo",
  ],
  ["pnpm", "", "boo\n ELIFECYCLE  Command failed with exit code 1.\n", "boo"],
  [
    "rust",
    "thread 'main' panicked at src/main.rs:2:5:\nno shop\nnote: run with `RUST_BACKTRACE=1` environment variable\n",
    "",
    "no shop",
  ],
  [
    "java",
    'Exception in thread "main" x.Boo: a\n\tat x.A.b(A.java:3)\nCaused by: x.Baz: b\n\tat x.B.c(B.java:4)\n\t... 2 more\n',
    "",
    "Caused by: x.Baz: b",
  ],
  [
    "python",
    'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nValueError: no shop\n',
    "",
    "ValueError: no shop",
  ],
  ["an unknown tool", "one\ntwo words\n\n", "working\n", "two words"],
])("of %s, it is the last line that says something", (_who, stderr, stdout, word) => {
  expect(lastWord(stderr, stdout)).toBe(word);
});

test("who printed nothing has no last word", () => {
  expect(lastWord("", " \n\n")).toBeNull();
});

test("a long output is read in linear time", () => {
  const spentMs = cpuTimer();
  for (const line of [" ", "^", "a.", "    at x\n", "npm error \n", "}\n", "x".repeat(5000)])
    lastWord(line.repeat(65536 / line.length), `${line.repeat(65536 / line.length)}\nNode.js v20.20.2`);
  expect(spentMs()).toBeLessThan(2000);
});
