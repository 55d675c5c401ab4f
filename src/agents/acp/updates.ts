import type { TurnOutcome } from "../../core/issue/events.js";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import { type Fields, toFields, toList, toText } from "../json.js";
import { Voice } from "./voice.js";

const longestResult = 100_000;

interface Call {
  readonly id: string;
  /** Everything said of it so far, the newest word for each key. */
  readonly fields: Fields;
  readonly output: string;
  readonly told: boolean;
  readonly ended: boolean;
}

/**
 * The updates of one prompt as events. A message comes in pieces and becomes one text; a tool call is told once its
 * input is known and once when it ends, however often it is updated in between.
 */
export class Updates {
  readonly #calls = new Map<string, Call>();
  readonly #voice: Voice;
  #text = "";
  #message: unknown;

  constructor(program = "") {
    this.#voice = new Voice(program);
  }

  /** The error that a turn ended with although it was told as ended; call it after flush(). */
  hiddenFailure(at: number): TurnOutcome | null {
    return this.#voice.failure(at);
  }

  add(update: Fields): AgentEvent[] {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return this.#addText(update);
      case "tool_call":
      case "tool_call_update":
        return [...this.flush(), ...this.#addCall(update)];
      default:
        return [];
    }
  }

  /** The message so far, as a whole one. */
  flush(): AgentEvent[] {
    const text = this.#text;
    this.#text = "";
    if (text.trim() === "") return [];
    this.#voice.spoke(text, this.#message !== undefined);
    return [{ type: "text", text }];
  }

  /** What is known of a call, with what a permission request says of it. What that shows is no result of the call. */
  describe(update: Fields): { readonly fields: Fields; readonly events: AgentEvent[] } {
    const { content, ...rest } = update;
    const call = this.#merge(rest);
    const fields = content === undefined || isEmpty(content) ? call.fields : { ...call.fields, content };
    return { fields, events: [...this.flush(), ...this.#tellCall(call)] };
  }

  #addText(update: Fields): AgentEvent[] {
    const piece = toText(toFields(update.content).text);
    const before = update.messageId === this.#message ? [] : this.flush();
    this.#message = update.messageId;
    this.#text += piece;
    return before;
  }

  #addCall(update: Fields): AgentEvent[] {
    this.#voice.acted();
    const call = this.#merge(update);
    const hasEnded = call.fields.status === "completed" || call.fields.status === "failed";
    if (call.ended || !hasEnded) return hasInput(call) ? this.#tellCall(call) : [];
    const told = this.#tellCall(call);
    this.#calls.set(call.id, { ...call, told: true, ended: true, fields: {}, output: "" });
    const failed = call.fields.status === "failed";
    return [...told, { type: "tool-result", id: call.id, text: resultOf(call).slice(0, longestResult), failed }];
  }

  #merge(update: Fields): Call {
    const id = toText(update.toolCallId);
    const known = this.#calls.get(id) ?? { id, fields: {}, output: "", told: false, ended: false };
    const said = Object.entries(update).filter(([, value]) => value !== undefined && value !== null && !isEmpty(value));
    const delta = toText(toFields(toFields(update._meta).terminal_output_delta).data);
    const call = {
      ...known,
      fields: { ...known.fields, ...Object.fromEntries(said) },
      output: `${known.output}${delta}`.slice(0, longestResult),
    };
    this.#calls.set(id, call);
    return call;
  }

  #tellCall(call: Call): AgentEvent[] {
    if (call.told) return [];
    this.#calls.set(call.id, { ...call, told: true });
    return [{ type: "tool-call", id: call.id, name: toolName(call.fields), input: inputOf(call.fields) }];
  }
}

export function toolName(fields: Fields): string {
  const own = toText(toFields(toFields(fields._meta).claudeCode).toolName);
  return own || toText(fields.name) || toText(fields.kind) || toText(fields.title) || "tool";
}

/** Some tell the folder of a command first, and the command later. */
function hasInput({ fields }: Call): boolean {
  if (fields.status === "in_progress") return true;
  const { cwd: _, ...input } = toFields(fields.rawInput);
  return !isEmpty(input);
}

function inputOf(fields: Fields): unknown {
  return isEmpty(fields.rawInput ?? {}) ? { title: toText(fields.title) } : fields.rawInput;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function resultOf({ fields, output }: Call): string {
  if (typeof fields.rawOutput === "string") return fields.rawOutput;
  const texts = toList(fields.content).flatMap((one) => {
    const part = toFields(one);
    if (part.type === "diff") return [`changed ${toText(part.path)}`];
    const text = toText(toFields(part.content).text);
    return text === "" ? [] : [text];
  });
  if (texts.length > 0) return texts.join("\n");
  return output || (fields.rawOutput === undefined ? "" : JSON.stringify(fields.rawOutput));
}
