import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, it } from "vitest";

/** Who may import whom: folders are layers, imports go downward only. A change to this table is a decision. */
const mayImport: Record<string, readonly string[]> = {
  core: [],
  lib: [],
  workflow: ["core"],
  prompts: ["core"],
  views: ["core", "workflow"],
  config: ["core", "lib"],
  durable: ["lib"],
  store: ["core", "lib", "durable"],
  git: ["lib"],
  agents: ["core", "lib", "hook"],
  reviewers: ["core", "lib"],
  trackers: ["core", "lib"],
  forge: ["core", "lib"],
  notify: ["core", "lib"],
  run: ["core", "workflow", "prompts", "config", "durable", "git", "lib"],
  hook: ["core", "lib"],
  app: ["core", "workflow", "prompts", "config", "durable", "store", "git", "lib"].concat([
    "agents",
    "reviewers",
    "trackers",
    "forge",
    "notify",
    "run",
  ]),
  cli: ["app.ts", "core", "views", "config", "lib", "web"],
  web: ["app.ts", "core", "views", "lib"],
  mcp: ["app.ts", "core", "views"],
};
/** Adapters never know each other: inside these folders one kind may not import another. */
const adapterKinds = new Set(
  ["acp", "claude", "codex", "command", "pi", "scripted", "agent-sdk", "cerberus"].concat([
    "beads",
    "github",
    "local",
    "memory",
  ]),
);
const adapterFolders = ["agents", "reviewers", "trackers", "forge", "notify"];
const maxFileLines = 400;
const maxFunctionLines = 80;

const files = list("src");
const sources = files.filter((file) => !file.endsWith(".test.ts"));

function list(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return list(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const found = text.matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)"(\.{1,2}\/[^"]+)"/g);
  return [...found].map((match) => normalize(join(dirname(file), (match[1] ?? "").replace(/\.js$/, ".ts"))));
}

/** The layer of a file: its folder under src/, or its own name when it lies directly there. */
function layerOf(file: string): string {
  return relative("src", file).split("/")[0] ?? "";
}

/** Static imports only: a lazily loaded adapter may use what app.ts re-exports. */
function findCycle(graph: Map<string, string[]>): string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): string[] | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    if (done.has(node)) return null;
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    path.pop();
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node);
    if (cycle) return cycle;
  }
  return null;
}

/** Length of every top-level or nested function, by the indentation that the formatter guarantees. */
function longFunctions(file: string): string[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line, index) => {
    const start =
      /^(\s*)(?:export )?(?:async )?(?:function\b|(?:const|let) \w+ = (?:async )?(?:\([^)]*\)|\w+)(?::[^=]+)? => \{$|(?:async )?\w+\([^)]*\)(?:: [^{]+)? \{$)/.exec(
        line,
      );
    if (!start || /^\s*(if|for|while|switch|catch|return)\b/.test(line)) return [];
    const end = lines.findIndex((other, at) => at > index && other.startsWith(`${start[1]}}`));
    const length = end - index + 1;
    return length > maxFunctionLines ? [`${file}:${index + 1} has ${length} lines`] : [];
  });
}

describe("the architecture", () => {
  it("has no folder that the layer table does not know", () => {
    const layers = new Set(files.map(layerOf));
    layers.delete("app.ts");
    layers.delete("version.ts");
    expect([...layers].filter((layer) => !(layer in mayImport))).toEqual([]);
  });

  it("imports only downward", () => {
    const wrong = files.flatMap((file) => {
      const from = layerOf(file);
      const allowed = from === "app.ts" ? null : mayImport[from];
      if (!allowed) return [];
      return importsOf(file)
        .filter((target) => target !== "src/version.ts")
        .filter((target) => target.startsWith("src/") && layerOf(target) !== from && !allowed.includes(layerOf(target)))
        .map((target) => `${file} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it("keeps core and the other pure folders free of node", () => {
    const pure = ["core", "workflow", "prompts", "views"];
    const wrong = sources.filter(
      (file) => pure.includes(layerOf(file)) && /from "node:/.test(readFileSync(file, "utf8")),
    );
    expect(wrong).toEqual([]);
  });

  it("lets no adapter import another kind", () => {
    const kindOf = (file: string) => relative("src", file).split("/")[1]?.replace(/\.ts$/, "") ?? "";
    const wrong = sources
      .filter((file) => adapterFolders.includes(layerOf(file)))
      .flatMap((file) =>
        importsOf(file)
          .filter(
            (target) =>
              layerOf(target) === layerOf(file) && kindOf(target) !== kindOf(file) && adapterKinds.has(kindOf(target)),
          )
          .map((target) => `${file} imports ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  it("has no import cycle", () => {
    expect(findCycle(new Map(sources.map((file) => [file, importsOf(file)])))).toBeNull();
  });

  it("spells the codes of all errors the same way", () => {
    const codesIn = (file: string) =>
      [...readFileSync(file, "utf8").matchAll(/\bcode: "([^"]*)"/g)].map(([, code]) => code);
    const isOfSystem = (code = "") => /^E[A-Z]+$/.test(code);
    const odd = sources.flatMap(codesIn).filter((code = "") => !isOfSystem(code) && !/^[a-z]+(-[a-z]+)*$/.test(code));
    expect(odd).toEqual([]);
  });

  it("keeps files and functions small", () => {
    const long = files.filter((file) => readFileSync(file, "utf8").split("\n").length > maxFileLines + 1);
    expect(long).toEqual([]);
    expect(sources.flatMap(longFunctions)).toEqual([]);
  });
});
