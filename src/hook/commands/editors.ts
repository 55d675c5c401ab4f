import { resolve } from "node:path";
import { refuse } from "../refusal.js";
import { type Call, copyState } from "../shell/session.js";
import { isDownload, isKnown } from "../shell/unknown.js";
import { mustWrite, placesOf } from "./access.js";
import { type Commands, each } from "./command.js";
import { all, has, parseOptions } from "./options.js";

/** Programs with a language of their own in which files are written and commands started. */
export const editors: Commands = {
  ...each(["ed", "red", "ex", "vi", "vim", "nvim", "rvim", "gvim", "view", "vimdiff", "vim.tiny", "vim.basic"], {
    judged: true,
    run: edit,
  }),
  ...each(["sqlite3", "sqlite"], { judged: false, run: sqlite }),
  ...each(["make", "gmake"], { judged: false, run: make }),
};

function edit(call: Call): undefined {
  if (call.args.length === 1 && call.args[0] === "--version") return undefined;
  return refuse(`${call.name}: nobody sits at the terminal; change files with your edit tool, sed -i or a heredoc`);
}

const sqliteOptions = /^--?(cmd|init|separator|newline|nullvalue|mmap|maxsize|vfs|lookaside|pagecache|heap|nonce)$/;

/** The database is written, and so are the files that the statements name. */
function sqlite(call: Call): undefined {
  const operands: string[] = [];
  const texts: string[] = [];
  for (let at = 0; at < call.args.length; at++) {
    const word = call.args[at] ?? "";
    if (/^--?A/.test(word)) refuse(`${call.name} -A: use tar or zip for archives`);
    if (sqliteOptions.test(word)) texts.push(call.args[++at] ?? "");
    else if (!word.startsWith("-")) operands.push(word);
  }
  const [file = "", ...statements] = operands;
  if (!call.args.some((arg) => /^--?readonly$/.test(arg)) && file !== ":memory:") mustWrite(call, fileOf(file));
  if (call.stdin !== null && isDownload(call.stdin)) refuse(`${call.name}: a download must be read before it is run`);
  for (const text of [...texts, ...statements, call.stdin ?? ""]) judgeStatements(call, text);
  return undefined;
}

function fileOf(name: string): string {
  return /^file:/i.test(name)
    ? decodeURIComponent(name.replace(/^file:(\/\/[^/]*)?/i, "").replace(/[?#].*$/, ""))
    : name;
}

// Their names may be cut short.
const starts = /^\s*\.(?:s|she?l?l?|sy\w*)\s+(.*)$/gm;
const reads = /^\s*\.(?:im\w*|re\w*)\s+["']?(\|.*)$/gm;
const names = /^\s*\.(?:[obclet]\w*|sa\w*)\s+(.*)$/gm;
const literals = /\b(?:attach(?:\s+database)?|vacuum(?:\s+\w+)?\s+into|writefile\s*\()\s*('(?:[^']|'')*'|"[^"]*")/gi;

function judgeStatements(call: Call, text: string): void {
  for (const [, command = ""] of text.matchAll(starts)) call.shell.runChild(command, call, []);
  for (const lines of [names, reads]) for (const [, words = ""] of text.matchAll(lines)) judgeNamed(call, words);
  for (const [, literal = ""] of text.matchAll(literals)) {
    const file = literal.slice(1, -1).replaceAll("''", "'");
    if (file !== ":memory:") mustWrite(call, fileOf(file));
  }
}

/** `.output FILE`, `.once |command` */
function judgeNamed(call: Call, words: string): void {
  const pipe = words.indexOf("|");
  if (pipe >= 0) call.shell.runChild(words.slice(pipe + 1).replace(/["']\s*$/, ""), call, []);
  else
    for (const word of words.split(/\s+/)) {
      const file = word.replace(/^["']|["']$/g, "");
      if (file.includes("/") || file === "..") mustWrite(call, file);
    }
}

const makeSpec = {
  short: "CfIjloWE",
  long: ["directory", "file", "makefile", "include-dir", "old-file", "assume-old", "what-if", "new-file", "eval"],
};

/** The rules of a makefile are the project's; rules that come from elsewhere are judged by nobody. */
function make(call: Call): undefined {
  const options = parseOptions(call.args.map(lone), makeSpec);
  const files = all(options, "f", "file", "makefile");
  if (has(options, "E", "eval") || files.some((file) => file === "-" || /^\/dev\/|^\/proc\//.test(file)))
    refuse(`${call.name}: nobody judges rules that are not in a file; write the commands out`);
  if (files.some((file) => isDownload(file) || wasFetched(call, file)))
    refuse(`${call.name}: a download must be read before it is run`);
  const inner: Call = { ...call, state: copyState(call.state) };
  for (const folder of all(options, "C", "directory")) call.shell.runArgv(["cd", folder], inner);
  for (const cwd of inner.state.cwds) {
    if (!isKnown(cwd) || !call.shell.session.paths.isWritableFolder(cwd))
      refuse(`${call.name} would run in ${cwd}, outside the worktree, and may write there`);
  }
  return undefined;
}

/** `-j`, `-l` and their numbers: a value only when it is attached. */
function lone(word: string): string {
  return /^-[jl][\d.]*$/.test(word) ? "-k" : word;
}

function wasFetched(call: Call, file: string): boolean {
  return placesOf(call, file).some((place) => call.shell.session.downloaded.has(resolve(place)));
}
