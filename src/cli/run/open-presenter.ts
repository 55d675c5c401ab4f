import { jsonText } from "../../lib/json-text.js";
import type { Context } from "../context.js";
import type { Output } from "../output.js";
import type { Presenter, Showing } from "./presenter.js";

export async function openPresenter(context: Context, runId: string, showing: Showing): Promise<Presenter> {
  if (showing.json) return jsonPresenter(context.out);
  if (!context.out.isTerminal) return plainPresenter(context.out);
  const { livePresenter } = await import("./live-presenter.js");
  return await livePresenter(context, runId, showing);
}

const nothing = () => undefined;

function jsonPresenter(out: Output): Presenter {
  return {
    past: nothing,
    events: (events) => out.piece(events.map((event) => `${jsonText(event)}\n`).join("")),
    say: (text) => out.note(text),
    end: async () => undefined,
  };
}

function plainPresenter(out: Output): Presenter {
  return {
    past: nothing,
    events: (_events, lines) => out.piece(lines.map(({ text }) => `${text}\n`).join("")),
    say: (text) => out.note(text),
    end: async () => undefined,
  };
}
