import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";

/**
 * The built program's files, with what V8 made of them when it was built (scripts/keep-code.mjs): to compile them again is
 * most of what a start costs. V8 refuses what another version of it made, or one with other flags; what it takes it
 * believes, so the code is of this very text, and whole, or it is passed over. Then the file is compiled as ever.
 */
const folder = import.meta.dirname;
const require = createRequire(import.meta.url);
const head = "(function (exports, require, module, __filename, __dirname) {";
const loaded = new Map<string, { readonly exports: object }>();

/** Whoever builds asks for what is compiled, by the file in which it is kept. */
export type Compiled = Map<string, { readonly script: Script; readonly toKeep: () => Buffer }>;
const compiled = Reflect.get(globalThis, Symbol.for("ratchet.compiled")) as Compiled | undefined;

/** `flags`: a name for those that V8 was given, as each set of them needs code of its own. */
export function loadProgram(file: string, flags: string): object {
  return load(file, join(folder, "code", `${process.versions.v8}-${process.arch}-${flags}`));
}

function load(file: string, codeFolder: string): object {
  const known = loaded.get(file);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const path = join(folder, file);
  const requireHere = (id: string) => (id.startsWith(".") ? load(join(dirname(file), id), codeFolder) : require(id));
  compile(file, join(codeFolder, `${file}.bin`)).runInThisContext()(
    ...[module.exports, requireHere, module, path, dirname(path)],
  );
  return module.exports;
}

function compile(file: string, codePath: string): Script {
  const source = readFileSync(join(folder, file));
  const cachedData = readCode(codePath, source);
  const script = new Script(`${head}${source}\n})`, {
    // The kept code has this name in it, too, so it says nothing of where the program was built.
    filename: `ratchet/dist/${file}`,
    columnOffset: -head.length,
    ...(cachedData && { cachedData }),
  });
  compiled?.set(codePath, { script, toKeep: () => toKeep(source, script.createCachedData()) });
  return script;
}

/** null: there is none that is whole, and this source's. Whatever else is in its place is no reason not to start. */
function readCode(path: string, source: Buffer): Buffer | null {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return null;
    const kept = readFileSync(path);
    const code = kept.subarray(sealBytes);
    return kept.subarray(0, sealBytes).equals(sealOf(source, code)) ? code : null;
  } catch {
    return null;
  }
}

function toKeep(source: Buffer, code: Buffer): Buffer {
  return Buffer.concat([sealOf(source, code), code]);
}

const sealBytes = 8;

/** What the code is of, and what it is. */
function sealOf(source: Buffer, code: Buffer): Buffer {
  const seal = Buffer.alloc(sealBytes);
  seal.writeUInt32LE(crc32(source), 0);
  seal.writeUInt32LE(crc32(code), 4);
  return seal;
}
