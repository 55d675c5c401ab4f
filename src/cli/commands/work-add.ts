import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { buffer as readAll } from "node:stream/consumers";
import { isItemId } from "../../core/ports/work-items.js";
import { messageOf, Refusal, UserError } from "../../lib/errors.js";
import { type Context, chooseProject } from "../context.js";
import { refuseForeign } from "../foreign-tracker.js";
import { typed } from "../typed.js";

export interface AddOptions {
  readonly id?: string;
  readonly body?: string;
  readonly bodyFile?: string;
  readonly type: string;
  readonly parent?: string;
  readonly dep?: readonly string[];
  readonly priority: string;
  readonly createdAt?: string;
  readonly project?: string;
  readonly json?: boolean;
}

export async function addWork(context: Context, title: string, options: AddOptions): Promise<number> {
  const { type } = options;
  if (type !== "task" && type !== "epic") throw new UserError(`--type ${typed(type)} is not one of task, epic`);
  if (title.trim() === "") throw new UserError("the title is empty", { hint: 'ratchet work add "What is to be done"' });
  if (options.id !== undefined && !isItemId(options.id)) {
    throw new UserError(`--id ${JSON.stringify(options.id)} is no valid id`, {
      hint: 'letters, digits, ".", "_" and "-", beginning with a letter or digit, at most 64: --id fix-login',
    });
  }
  if (options.dep?.length === 0) throw new UserError("--dep names no issue", { hint: "--dep <id>, or leave it out" });
  if (options.parent === "") throw new UserError("--parent names no epic", { hint: "--parent <id>, or leave it out" });
  const item = {
    id: options.id ?? null,
    title,
    body: await readBody(options),
    type,
    parent: options.parent ?? null,
    deps: options.dep ?? [],
    priority: parsePriority(options.priority),
    source: "implement",
    createdAt: parseTime(options.createdAt),
  } as const;
  const project = await chooseProject(context, options.project);
  await refuseForeign(context, "add", { project: options.project });
  const { workItems } = await context.app.store();
  const added = await workItems.add({ ...item, projectId: project.id });
  if (!added.ok) throw new Refusal(added.reason, { hint: added.hint ?? "ratchet work list --all shows what there is" });
  if (options.json) context.out.json({ id: added.id });
  else context.out.line(added.id);
  return 0;
}

/** Refused where it would not be kept as it is. */
async function readBody({ body, bodyFile }: AddOptions): Promise<string> {
  if (bodyFile === undefined) return body ?? "";
  if (body !== undefined) throw new UserError("--body and --body-file cannot be given together");
  const bytes = await readBytes(bodyFile);
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw new UserError(`--body-file ${typed(bodyFile)} is no text in UTF-8`, {
      hint: "give a text file; others can be committed and named in the text",
    });
  }
  return bytes.toString("utf8");
}

async function readBytes(file: string): Promise<Buffer> {
  if (file === "-") return await readAll(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    throw new UserError(`--body-file ${typed(file)} cannot be read: ${messageOf(error)}`);
  }
}

export function parsePriority(text: string): number {
  const found = /^[Pp]?([0-3])$/.exec(text)?.[1];
  if (found === undefined) throw new UserError(`--priority ${typed(text)} is not one of P0, P1, P2, P3`);
  return Number(found);
}

function parseTime(text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new UserError(`--created-at ${typed(text)} is no time`, { hint: "write it as 2025-01-31T12:00:00Z" });
  }
  return time;
}
