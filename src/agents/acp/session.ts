import type { TurnOutcome } from "../../core/issue/events.js";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import type { Decision, ToolCall } from "../../hook/types.js";
import { type Fields, toFields, toText } from "../json.js";
import { readForProgram, writeForProgram } from "./client-files.js";
import { type Connection, notServed, type Peer } from "./connection.js";
import { outcomeOfFailure } from "./failure.js";
import { type Opening, openSession } from "./open.js";
import { answerRequest, toToolCalls } from "./permission.js";
import { toolName, Updates, usageOf } from "./updates.js";

export interface Surroundings extends Opening {
  /** The program has said something, whatever it was. */
  heard(): void;
  ask(tool: string, calls: readonly ToolCall[] | null): Decision;
  denials(): readonly AgentEvent[];
  isProgram(name: string): boolean;
}

/**
 * One turn: a session, new or gone on in, and one prompt. Everything said before the prompt is sent is history that the
 * program tells again: it is no output of this turn.
 */
export class Session implements Peer {
  readonly #around: Surroundings;
  #updates: Updates | null = null;
  #id: string | null = null;
  #costBefore = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Never throws: whatever goes wrong is the turn's outcome. */
  async run(connection: Connection, prompt: string): Promise<TurnOutcome> {
    const opened = await openSession(connection, this.#around);
    if ("type" in opened) return opened;
    this.#id = opened.id;
    this.#updates = new Updates(opened.program);
    try {
      const text = { type: "text", text: prompt };
      return this.#judge(await connection.call("session/prompt", { sessionId: opened.id, prompt: [text] }));
    } catch (error) {
      return outcomeOfFailure(error);
    } finally {
      this.#tellAll([...this.#around.denials(), ...this.#updates.flush()]);
    }
  }

  /** The program's own way of being interrupted. */
  cancel(connection: Connection): void {
    if (this.#id !== null) connection.notify("session/cancel", { sessionId: this.#id });
  }

  #judge(answer: Fields): TurnOutcome {
    this.#tellAll(this.#updates?.flush() ?? []);
    const cost = this.#updates?.cost ?? null;
    const usage = usageOf(answer.usage, cost === null ? null : Math.max(0, cost - this.#costBefore));
    if (usage !== null) this.#around.tell({ type: "usage", usage });
    switch (answer.stopReason) {
      // Cut off by its own length is an ending too: what it did is judged by the gate.
      case "end_turn":
      case "max_tokens":
      case "max_turn_requests":
        return this.#updates?.hiddenFailure(Date.now()) ?? { type: "ended" };
      case "refusal":
        return { type: "failed", reason: "the model refused to go on" };
      case "cancelled":
        return { type: "failed", reason: "the turn was cancelled" };
      default:
        return { type: "failed", reason: `the program stopped for a reason of its own: ${toText(answer.stopReason)}` };
    }
  }

  notified(method: string, params: Fields): void {
    this.#around.heard();
    if (method !== "session/update") return;
    const update = toFields(params.update);
    const { amount } = toFields(update.cost);
    if (this.#updates) this.#tellAll(this.#updates.add(update));
    else if (typeof amount === "number") this.#costBefore = amount;
  }

  async request(method: string, params: Fields): Promise<unknown> {
    this.#around.heard();
    switch (method) {
      case "session/request_permission":
        return this.#permit(params);
      case "fs/read_text_file":
        return await readForProgram(params, (call) => this.#decide("read", [call]));
      case "fs/write_text_file":
        return await writeForProgram(params, (call) => this.#decide("write", [call]));
      default:
        return notServed(method);
    }
  }

  #permit(params: Fields): unknown {
    const known = this.#updates?.describe(toFields(params.toolCall));
    this.#tellAll(known?.events ?? []);
    const fields = known?.fields ?? toFields(params.toolCall);
    const { options, isProgram } = this.#around;
    const calls = toToolCalls(fields, { cwd: options.cwd, isProgram });
    return answerRequest(params.options, this.#decide(toolName(fields), calls).allow);
  }

  #decide(tool: string, calls: readonly ToolCall[] | null): Decision {
    const decision = this.#around.ask(tool, calls);
    this.#tellAll(this.#around.denials());
    return decision;
  }

  #tellAll(events: readonly AgentEvent[]): void {
    for (const event of events) {
      // A call that failed may have been refused by the hook, which tells nobody but its file.
      if (event.type === "tool-result" && event.failed) this.#tellAll(this.#around.denials());
      this.#around.tell(event);
    }
  }
}
