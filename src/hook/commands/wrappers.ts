import { refuse } from "../refusal.js";
import { type Call, copyState } from "../shell/session.js";
import { isDownload, unknown } from "../shell/unknown.js";
import { mustRead, mustWrite } from "./access.js";
import { evaluate } from "./builtins.js";
import { type Commands, each } from "./command.js";
import { judgeVariable } from "./environment.js";
import { all, has, type OptionSpec, parseOptions } from "./options.js";

const none = () => [];

/** Programs that start another one: judged is the other one. */
export const wrappers: Commands = {
  env: { judged: true, reads: none, run: env },
  "cross-env": { judged: true, reads: none, run: env },
  ...each(["nohup", "setsid", "unbuffer", "caffeinate", "ltrace", "catchsegv", "busybox", "toybox"], passing({})),
  nice: passing({ short: "n", long: ["adjustment"] }),
  ionice: passing({ short: "cnpP" }),
  stdbuf: passing({ short: "ioe", long: ["input", "output", "error"] }),
  timeout: passing({ short: "ks", long: ["kill-after", "signal"] }, 1),
  gtimeout: passing({ short: "ks", long: ["kill-after", "signal"] }, 1),
  time: { judged: true, reads: none, run: time },
  chrt: passing({ short: "TPD" }, 1),
  taskset: passing({}, 1),
  strace: { judged: true, reads: none, run: trace },
  xvfb_run: passing({}),
  "xvfb-run": passing({ short: "nsef" }),
  "dbus-run-session": passing({}),
  watch: {
    judged: true,
    reads: none,
    run: (call) => childText(call, parseOptions(call.args, { short: "n", leading: true }).operands.join(" ")),
  },
  flock: { judged: true, reads: none, run: flock },
  script: { judged: true, reads: none, run: script },
  xargs: { judged: true, reads: none, run: xargs },
  parallel: { judged: true, reads: none, run: parallel },
  entr: passing({}),
  ...each(["npx", "bunx", "pnpx", "uvx", "pipx"], {
    judged: false,
    run: (call) =>
      startsTool(
        call,
        parseOptions(call.args, { short: "pc", long: ["package", "call", "from"], leading: true }).operands,
      ),
  }),
  dotenv: passing({ short: "ecv" }),
};

function passing(spec: OptionSpec, skip = 0) {
  return {
    judged: true,
    reads: none,
    run: (call: Call) => rest(call, parseOptions(call.args, { ...spec, leading: true }).operands.slice(skip)),
  };
}

function rest(call: Call, argv: readonly string[]): string {
  if (argv.length === 0) return call.stdin ?? "";
  return call.shell.runArgv(argv, { ...call, state: copyState(call.state) });
}

/** A tool of a package: known by its name if it is one of ours to judge. */
function startsTool(call: Call, argv: readonly string[]): string | undefined {
  const [first = ""] = argv;
  const name = first.replace(/@[^/@]*$/, "");
  if (name === "shx") return rest(call, argv.slice(1));
  return name === "" ? undefined : rest(call, [name, ...argv.slice(1)]);
}

function childText(call: Call, text: string): string {
  return evaluate({ ...call, state: copyState(call.state) }, text);
}

function env(call: Call): string | undefined {
  const options = parseOptions(call.args, { short: "uCS", long: ["unset", "chdir", "split-string"], leading: true });
  const inner: Call = { ...call, state: copyState(call.state) };
  const [text] = all(options, "S", "split-string");
  if (text !== undefined) return childText(inner, [text, ...options.operands].join(" "));
  for (const folder of all(options, "C", "chdir")) call.shell.runArgv(["cd", folder], inner);
  const argv = [...options.operands];
  for (let [word] = argv; word !== undefined && /^[A-Za-z_]\w*=/.test(word); [word] = argv) {
    const at = word.indexOf("=");
    judgeVariable(word.slice(0, at), word.slice(at + 1), inner);
    argv.shift();
  }
  return argv.length === 0 ? undefined : call.shell.runArgv(argv, inner);
}

function time(call: Call): string {
  const options = parseOptions(call.args, { short: "fo", long: ["format", "output"], leading: true });
  for (const file of all(options, "o", "output")) mustWrite(call, file);
  return rest(call, options.operands);
}

function trace(call: Call): string {
  const options = parseOptions(call.args, { short: "oepsaEPuU", leading: true });
  for (const file of all(options, "o")) mustWrite(call, file);
  if (has(options, "p")) refuse("strace: watch only programs that the command starts itself");
  return rest(call, options.operands);
}

function flock(call: Call): string {
  const options = parseOptions(call.args, { short: "wEc", long: ["timeout", "command"], leading: true });
  const [file, ...argv] = options.operands;
  if (file !== undefined && !/^\d+$/.test(file)) mustWrite(call, file);
  const [first, text] = argv;
  if (first === "-c" || first === "--command") return childText(call, text ?? "");
  return rest(call, argv);
}

function script(call: Call): string {
  const options = parseOptions(call.args, { short: "cIOBTEo", long: ["command"] });
  for (const file of [...options.operands, ...all(options, "I", "O", "B", "T")]) mustWrite(call, file);
  for (const text of all(options, "c", "command")) childText(call, text);
  return unknown.any;
}

const xargsSpec: OptionSpec = {
  short: "IndPLsaE",
  long: ["max-args", "max-procs", "delimiter", "arg-file", "max-lines", "max-chars"],
  leading: true,
};
const mostFields = 64;

function xargs(call: Call): string {
  const options = parseOptions(call.args, xargsSpec);
  for (const file of all(options, "a", "arg-file")) mustRead(call, file);
  const [place] = [...all(options, "I", "replace"), ...(has(options, "i") ? ["{}"] : [])];
  const argv = options.operands.length === 0 ? ["echo"] : options.operands;
  const fields = inputFields(has(options, "a", "arg-file") ? unknown.file : call.stdin);
  const state = copyState(call.state);
  // The input is taken: the program itself reads nothing, but what it runs comes from where the input came from.
  const stdin = call.stdin !== null && isDownload(call.stdin) ? unknown.download : null;
  if (place === undefined || place === "") return call.shell.runArgv([...argv, ...fields], { ...call, state, stdin });
  const runs = fields.map((field) =>
    call.shell.runArgv(
      argv.map((word) => word.replaceAll(place, () => field)),
      { ...call, state: copyState(state), stdin },
    ),
  );
  return runs.join("\n");
}

function inputFields(stdin: string | null): readonly string[] {
  const fields = [...new Set((stdin ?? unknown.any).split(/[\s\uE005]+/).filter(Boolean))];
  return fields.length > mostFields ? [unknown.any] : fields;
}

function parallel(call: Call): string {
  const options = parseOptions(call.args, {
    short: "jNa",
    long: ["jobs", "joblog", "results", "arg-file"],
    leading: true,
  });
  for (const file of all(options, "joblog", "results")) mustWrite(call, file);
  const end = options.operands.findIndex((word) => /^:{3,4}\+?$/.test(word));
  const template = (end < 0 ? options.operands : options.operands.slice(0, end)).join(" ");
  const values = end < 0 ? inputFields(call.stdin) : options.operands.slice(end + 1);
  for (const value of values.slice(0, mostFields)) {
    const text = /\{[./]*\}/.test(template) ? template.replaceAll(/\{[./]*\}/g, () => value) : `${template} ${value}`;
    if (/[\uE000\uE006\uE007]/.test(text))
      refuse("parallel: nobody can tell what it will run; use a loop with the names written out");
    call.shell.runArgv(text.split(/\s+/).filter(Boolean), { ...call, state: copyState(call.state) });
  }
  return unknown.any;
}
