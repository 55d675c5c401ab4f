import { setTimeout as delay } from "node:timers/promises";
import type { TurnOutcome, Usage } from "../../core/issue/events.js";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import type { Decision, ToolCall } from "../../hook/types.js";
import { type Fields, toFields, toText } from "../json.js";
import { readForProgram, writeForProgram } from "./client-files.js";
import { type Connection, notServed, type Peer } from "./connection.js";
import { outcomeOfFailure } from "./failure.js";
import { type Opened, type Opening, openSession } from "./open.js";
import { answerRequest, toToolCalls } from "./permission.js";
import { type Quirks, quirksOf } from "./quirks.js";
import { Spending } from "./spending.js";
import { toolName, Updates } from "./updates.js";

export interface Surroundings extends Opening {
  /** The program has said something, whatever it was. */
  heard(): void;
  ask(tool: string, calls: readonly ToolCall[] | null): Decision;
  denials(): readonly AgentEvent[];
  isProgram(name: string): boolean;
  /** Counts by other means what the program does not tell over the wire. */
  count(session: string, since: number): Promise<Usage | null>;
}

const quietMs = 400;
const longestHistoryMs = 5000;

/**
 * One turn: a session, new or gone on in, and one prompt. Everything said before the prompt is sent is history that the
 * program tells again: it is no output of this turn.
 */
export class Session implements Peer {
  readonly #around: Surroundings;
  #updates: Updates | null = null;
  #id: string | null = null;
  #quirks: Quirks = quirksOf("");
  #heardAt = Date.now();
  readonly #spending: Spending;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#spending = new Spending(around.options.prices);
  }

  /** Never throws: whatever goes wrong is the turn's outcome. */
  async run(connection: Connection, prompt: string): Promise<TurnOutcome> {
    const opened = await openSession(connection, this.#around);
    if ("type" in opened) return opened;
    this.#id = opened.id;
    this.#quirks = quirksOf(opened.program);
    if (this.#isResumed && this.#quirks.tellsHistoryLate) await this.#untilQuiet();
    this.#updates = new Updates(opened.program);
    return await this.#prompt(connection, opened, prompt);
  }

  async #prompt(connection: Connection, { id }: Opened, prompt: string): Promise<TurnOutcome> {
    const since = Date.now();
    let answer: Fields = {};
    try {
      answer = await connection.call("session/prompt", { sessionId: id, prompt: [{ type: "text", text: prompt }] });
      this.#tellAll(this.#updates?.flush() ?? []);
      return this.#judge(answer);
    } catch (error) {
      return outcomeOfFailure(error);
    } finally {
      this.#tellAll([...this.#around.denials(), ...(this.#updates?.flush() ?? [])]);
      const isCountedBySession = this.#quirks.countsBySession;
      this.#tellUsage(this.#spending.total(answer, !(isCountedBySession && this.#isResumed)));
      if (isCountedBySession) this.#tellUsage(await this.#around.count(id, since));
    }
  }

  get #isResumed(): boolean {
    return this.#around.options.session !== null;
  }

  /** Nothing marks the end of a history that is told late but that nothing follows. */
  async #untilQuiet(): Promise<void> {
    const giveUpAt = Date.now() + longestHistoryMs;
    this.#heardAt = Date.now();
    while (Date.now() < Math.min(this.#heardAt + quietMs, giveUpAt)) await delay(quietMs / 8);
  }

  #tellUsage(usage: Usage | null): void {
    if (usage !== null) this.#around.tell({ type: "usage", usage });
  }

  /** The program's own way of being interrupted. */
  cancel(connection: Connection): void {
    if (this.#id !== null) connection.notify("session/cancel", { sessionId: this.#id });
  }

  #judge(answer: Fields): TurnOutcome {
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
    this.#heardAt = Date.now();
    if (method === "_claude/sdkMessage" && this.#updates) {
      this.#tellUsage(this.#spending.message(toFields(params.message)));
    }
    if (method !== "session/update") return;
    const update = toFields(params.update);
    this.#tellUsage(this.#spending.update(update, this.#updates === null));
    if (this.#updates) this.#tellAll(this.#updates.add(update));
  }

  async request(method: string, params: Fields): Promise<unknown> {
    this.#around.heard();
    switch (method) {
      case "session/request_permission":
        return this.#permit(params);
      case "fs/read_text_file":
        return await readForProgram(params, {
          ask: (call) => this.#decide("read", [call]),
          isMissingEmpty: this.#quirks.readsMissingAsEmpty,
        });
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
    const isCommand = (name: string) => this.#quirks.titlesCommands || isProgram(name);
    const calls = toToolCalls(fields, { cwd: options.cwd, isProgram: isCommand });
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
