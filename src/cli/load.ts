import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";

/**
 * The built program's files, with what V8 made of them when it was built (scripts/keep-code.mjs): to compile them again is
 * most of what a start costs. What another V8 made, or one with other flags, it refuses itself; what is older than its
 * file is passed over. Then the file is compiled as ever.
 */
const require = createRequire(import.meta.url);
const head = "(function (exports, require, module, __filename, __dirname) {";
const loaded = new Map<string, { readonly exports: object }>();
/** Whoever builds asks for what is compiled, by file. */
const compiled: unknown = Reflect.get(globalThis, Symbol.for("ratchet.compiled"));

/** `flags`: a name for those that V8 was given, as each set of them needs code of its own. */
export function loadProgram(file: string, flags: string): object {
  const folder = import.meta.dirname;
  return load(join(folder, file), join(folder, "code", `${process.versions.v8}-${process.arch}-${flags}`));
}

function load(path: string, codeFolder: string): object {
  const known = loaded.get(path);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(path, module);
  const place = dirname(path);
  const requireHere = (id: string) => (id.startsWith(".") ? load(join(place, id), codeFolder) : require(id));
  compile(path, join(codeFolder, basename(path))).runInThisContext()(module.exports, requireHere, module, path, place);
  return module.exports;
}

function compile(path: string, codePath: string): Script {
  const cachedData = readCode(path, codePath);
  const script = new Script(`${head}${readFileSync(path, "utf8")}\n})`, {
    filename: path,
    columnOffset: -head.length,
    ...(cachedData && { cachedData }),
  });
  if (compiled instanceof Map) compiled.set(codePath, script);
  return script;
}

/** null: there is none that is its file's. */
function readCode(path: string, codePath: string): Buffer | null {
  const code = statSync(codePath, { throwIfNoEntry: false });
  return code === undefined || code.mtimeMs < statSync(path).mtimeMs ? null : readFileSync(codePath);
}
