#!/usr/bin/env node
// Stands in for bd (BD_STUB_AS=bd, in an envelope with BD_STUB_ENVELOPE=1) or br (BD_STUB_AS=br). Issues are in the
// JSON file BD_STUB_FILE: {issues, faults: [{command, times, code (or a signal that kills it), say, prints, claimed, skip}], lose: [ids whose next claim is lost],
// calls}; where `stdout` is given, a fault says its words there. Claims are entered under the name BD_STUB_CLAIMS_AS where it is given, and never under another with BD_STUB_STUBBORN. With BD_STUB_TERSE a new issue gets no description. While a file of its name with ".down" exists nothing can be reached. Like the real ones it knows parts of ids,
// cuts lists, and refuses options that it does not know.
import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

const file = process.env.BD_STUB_FILE;
const isBr = process.env.BD_STUB_AS === "br";
const known = new Set(
  ["json", "actor", "limit", "sort", "status", "label", "claim", "assignee", "add-label", "remove-label"].concat([
    "notes",
    "description",
    "reason",
    "type",
    "priority",
    "labels",
    "deps",
  ]),
);
const flags = new Set(["json", "claim"]);
const [command, ...rest] = process.argv.slice(2);
const { options, words } = parse(rest);
const actor = process.env.BD_STUB_CLAIMS_AS ?? options.actor?.[0] ?? "somebody";

class Failure extends Error {
  constructor(code, text, kind = "ERROR", stdout = false) {
    super(text);
    this.stdout = stdout;
    this.code = code;
    this.kind = kind;
  }
}

function parse(args) {
  const found = { options: {}, words: [] };
  for (let at = 0; at < args.length; at++) {
    const option = /^--([a-z-]+)(?:=([\s\S]*))?$/.exec(args[at]);
    if (!option) {
      found.words.push(args[at]);
      continue;
    }
    const [, name, value] = option;
    const given = flags.has(name) ? "" : (value ?? args[++at]);
    found.options[name] = [...(found.options[name] ?? []), given];
  }
  return found;
}

function withState(use) {
  const lock = `${file}.lock`;
  for (let tries = 0; ; tries++) {
    try {
      closeSync(openSync(lock, "wx"));
      break;
    } catch (error) {
      if (error.code !== "EEXIST" || tries > 4000) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
  try {
    const state = JSON.parse(readFileSync(file, "utf8"));
    state.calls.push([command, ...rest]);
    try {
      return use(state);
    } finally {
      writeFileSync(`${file}.new`, JSON.stringify(state));
      renameSync(`${file}.new`, file);
    }
  } finally {
    rmSync(lock);
  }
}

function find(state, given) {
  const exact = state.issues.find(({ id }) => id === given);
  const [part, ...more] = exact ? [exact] : state.issues.filter(({ id }) => id.startsWith(given));
  if (part && more.length === 0) return part;
  if (isBr) throw new Failure(3, `Issue not found: ${given}`, "ISSUE_NOT_FOUND");
  throw new Failure(1, `Error fetching ${given}: no issue found matching "${given}"`);
}

const isOpen = (state, id) => state.issues.some((issue) => issue.id === id && issue.status !== "closed");

/** Lists are poorer than details. */
function inList({ deps, links, labels, description, notes, ...issue }) {
  return isBr ? issue : { ...issue, description, dependency_count: deps.length };
}

function inDetail(state, { deps, parent, links = [], ...issue }) {
  const type = isBr ? "dep_type" : "dependency_type";
  const link = (id, kind) => {
    const { status, closed_at } = state.issues.find((each) => each.id === id) ?? {};
    return { id, status, ...(isBr || !closed_at ? {} : { closed_at }), [type]: kind };
  };
  const dependencies = [...deps.map((id) => link(id, "blocks")), ...links.map((id) => link(id, "discovered-from"))];
  if (parent) dependencies.push(link(parent, "parent-child"));
  const children = state.issues.filter((each) => each.parent === issue.id).map(({ id }) => link(id, "parent-child"));
  return {
    ...issue,
    dependencies,
    ...(children.length > 0 ? { dependents: children } : {}),
    ...(parent && !isBr ? { parent } : {}),
  };
}

function cut(list, normally) {
  const limit = Number(options.limit?.[0] ?? normally);
  return limit === 0 ? list : list.slice(0, limit);
}

function claim(state, issue) {
  if (state.lose.includes(issue.id)) {
    state.lose = state.lose.filter((id) => id !== issue.id);
    Object.assign(issue, { status: "in_progress", assignee: "somebody/else" });
  }
  if (issue.assignee && issue.assignee !== actor) {
    if (isBr) throw new Failure(4, `Validation failed: claim: issue already assigned to ${issue.assignee}`);
    throw new Failure(1, `Error claiming ${issue.id}: issue already claimed by ${issue.assignee}`);
  }
  if (!isBr && issue.status !== "open" && issue.assignee !== actor) {
    throw new Failure(1, `Error claiming ${issue.id}: issue not claimable: status ${issue.status}`);
  }
  Object.assign(issue, { status: "in_progress", assignee: actor });
}

function update(state, issue) {
  issue.updated_at = new Date().toISOString();
  if (options.claim) claim(state, issue);
  for (const key of ["status", "assignee", "notes", "description"]) {
    if (key === "assignee" && process.env.BD_STUB_STUBBORN && options[key]?.at(-1) !== "") continue;
    if (options[key]) issue[key] = options[key].at(-1);
  }
  const gone = options["remove-label"] ?? [];
  const labels = issue.labels.filter((label) => !gone.includes(label));
  issue.labels = [...new Set([...labels, ...(options["add-label"] ?? [])])];
  return { id: issue.id, title: issue.title, status: issue.status, priority: issue.priority };
}

function create(state) {
  const [kind = "", source = ""] = (options.deps?.[0] ?? "").split(/:(.*)/);
  const issue = {
    id: `${isBr ? "br" : "bd"}-${state.issues.length + 1}`,
    title: words[0],
    description: process.env.BD_STUB_TERSE ? "" : (options.description?.[0] ?? ""),
    notes: "",
    status: "open",
    priority: Number(options.priority?.[0] ?? 2),
    issue_type: options.type?.[0] ?? "task",
    assignee: "",
    labels: options.labels?.[0].split(",") ?? [],
    deps: [],
    links: kind === "discovered-from" ? [find(state, source).id] : [],
    ...(kind === "parent-child" ? { parent: find(state, source).id } : {}),
  };
  state.issues.push(issue);
  return inDetail(state, issue);
}

const commands = {
  ready: (state) => {
    const waits = ({ deps }) => deps.some((id) => isOpen(state, id));
    const ready = state.issues.filter((issue) => issue.status === "open" && !waits(issue));
    if (options.sort?.[0] === "priority") ready.sort((one, other) => one.priority - other.priority);
    return cut(ready, isBr ? 20 : 10).map(inList);
  },
  list: (state) => {
    const [status, label, type] = [options.status?.[0], options.label?.[0], options.type?.[0]];
    const found = state.issues.filter((issue) => {
      const matches = status === undefined ? issue.status !== "closed" : issue.status === status;
      const isOf = type === undefined || issue.issue_type === type;
      return matches && isOf && (label === undefined || issue.labels.includes(label));
    });
    const shown = cut(found, 50).map(inList);
    return isBr ? { issues: shown, total: found.length, has_more: shown.length < found.length } : shown;
  },
  show: (state) => words.map((id) => inDetail(state, find(state, id))),
  update: (state) => words.map((id) => update(state, find(state, id))),
  close: (state) =>
    words.map((id) => {
      const [close_reason, closed_at] = [options.reason?.[0] ?? "", new Date().toISOString()];
      return Object.assign(find(state, id), { status: "closed", close_reason, closed_at });
    }),
  create,
};

function answer(state) {
  if (existsSync(`${file}.down`)) throw new Failure(1, "Error: cannot connect to the database");
  const unknown = Object.keys(options).find((name) => !known.has(name));
  if (unknown) throw new Failure(1, `Error: unknown flag: --${unknown}`);
  const isClaimed = state.issues.some(({ id, status }) => words.includes(id) && status === "in_progress");
  const fault = state.faults.find((each) => each.command === command && each.times > 0 && (!each.claimed || isClaimed));
  if (fault?.skip > 0) fault.skip--;
  else if (fault) {
    fault.times--;
    if (fault.prints !== undefined) return { raw: fault.prints };
    if (fault.after) commands[command](state);
    throw new Failure(fault.code ?? 1, fault.say ?? "Error: database is locked", "ERROR", fault.stdout);
  }
  if (!(command in commands)) throw new Failure(1, `Error: unknown command "${command}"`);
  return commands[command](state);
}

try {
  const value = withState(answer);
  const wrapped = process.env.BD_STUB_ENVELOPE === "1" ? { schema_version: 1, data: value } : value;
  process.stdout.write(value?.raw ?? `${JSON.stringify(wrapped, null, 2)}\n`);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  if (error.stdout) process.stdout.write(`${error.message}\n`);
  else if (isBr) process.stdout.write(`${JSON.stringify({ error: { code: error.kind, message: error.message } })}\n`);
  else process.stderr.write(`${error.message}\n`);
  if (typeof error.code === "string") process.kill(process.pid, error.code);
  process.exitCode = error.code;
}
