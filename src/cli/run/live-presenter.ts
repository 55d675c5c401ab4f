import { createLogUpdate } from "log-update";
import type { PublicEvent } from "../../core/report.js";
import { emptyLive, foldLive } from "../../views/live.js";
import { renderTable } from "../../views/live-table.js";
import { logLines } from "../../views/log-lines.js";
import { emptySummary, foldSummary } from "../../views/summary.js";
import type { Context } from "../context.js";
import { summaryLines } from "../lacking.js";
import { roomOf } from "../room.js";
import type { Presenter, Showing } from "./presenter.js";

/** Time goes on between events. */
const redrawMs = 1000;

/** A terminal that draws a character wider than it is known to be cuts the line: one more of them would stay at every redraw. */
const unwrapped = (line: string) => `\u001b[?7l${line}\u001b[?7h`;

/** The live table: redrawn when something has happened and each second; the summary stays when the run has ended. */
export async function livePresenter(
  { app, out, env }: Context,
  runId: string,
  { withoutSummary }: Showing,
): Promise<Presenter> {
  const { width } = await roomOf(out);
  const update = createLogUpdate(process.stdout);
  let live = emptyLive;
  let summary = emptySummary;
  let note: string | null = null;
  const draw = () => {
    if (out.gone.aborted) return;
    const size = { columns: out.columns, rows: out.rows - 1 };
    const lines = renderTable(live, { ...size, width, now: Date.now(), color: !env.NO_COLOR, note });
    update(out.redact(lines.map(unwrapped).join("\n")));
  };
  const fold = (event: PublicEvent) => {
    live = foldLive(live, event);
    summary = foldSummary(summary, event);
  };
  /** What the table does not show: a claim that hangs has no row yet. */
  const isNews = (event: PublicEvent) =>
    event.type === "question" ||
    (event.type === "log" && event.level !== "info") ||
    (event.type === "waiting" && !live.issues.some(({ id }) => id === event.issue_id));
  /** A drain or stop may come from another terminal. */
  const look = async () => {
    const state = await app.runState(runId);
    if (state?.draining && !state.stopping) note ??= "draining, press again to stop";
    draw();
  };
  const timer = setInterval(() => void look().catch((error: unknown) => out.note(String(error))), redrawMs);
  return {
    past: fold,
    events: (events) => {
      for (const event of events) {
        fold(event);
        for (const line of isNews(event) && !out.gone.aborted ? logLines(event) : []) {
          update.persist(out.redact(line.text));
        }
      }
      draw();
    },
    say: (text) => {
      note = text;
      draw();
    },
    end: async () => {
      clearInterval(timer);
      note = null;
      draw();
      update.done();
      if (withoutSummary) return;
      out.line("");
      for (const line of await summaryLines(app, summary)) out.line(line);
    },
  };
}
