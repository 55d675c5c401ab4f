import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, isAbsolute } from "node:path";
import type { Decision, ToolCall } from "../../hook/types.js";
import { codeOf, messageOf } from "../../lib/errors.js";
import { type Fields, toText } from "../json.js";
import { RpcError } from "./connection.js";

const invalidParams = -32602;
const refused = -32003;
const unreadable = -32002;

/** Files that the program reads and writes through us, so that the guard sees each. */
export async function readForProgram(
  params: Fields,
  { ask, isMissingEmpty }: { readonly ask: (call: ToolCall) => Decision; readonly isMissingEmpty: boolean },
): Promise<Fields> {
  const path = allowedPath(params, "read", ask);
  const missing = (error: unknown) => {
    if (isMissingEmpty && codeOf(error) === "ENOENT") return "";
    throw error;
  };
  const lines = (await orRpcError(readFile(path, "utf8").catch(missing))).split("\n");
  const from = typeof params.line === "number" && params.line > 1 ? params.line - 1 : 0;
  const until = typeof params.limit === "number" ? from + params.limit : lines.length;
  return { content: lines.slice(from, until).join("\n") };
}

export async function writeForProgram(params: Fields, ask: (call: ToolCall) => Decision): Promise<Fields> {
  const path = allowedPath(params, "write", ask);
  await orRpcError(mkdir(dirname(path), { recursive: true }).then(() => writeFile(path, toText(params.content))));
  return {};
}

function allowedPath(params: Fields, kind: "read" | "write", ask: (call: ToolCall) => Decision): string {
  const path = toText(params.path);
  if (!isAbsolute(path)) throw new RpcError(invalidParams, `not an absolute path: ${path}`);
  const decision = ask({ kind, paths: [path] });
  if (!decision.allow) throw new RpcError(refused, decision.reason);
  return path;
}

async function orRpcError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new RpcError(unreadable, messageOf(error));
  }
}
