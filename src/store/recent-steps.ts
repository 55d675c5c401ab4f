import type { PublicEvent } from "../core/report.js";
import type { EventPage } from "./steps.js";

/** What a step told the world. */
export interface RecentStep {
  readonly position: number;
  readonly events: readonly PublicEvent[];
}

const kept = 256;

/** The last steps that this process committed, by stream, without a gap: whoever follows a run need not read them back. */
export class RecentSteps {
  readonly #streams = new Map<number, RecentStep[]>();

  add(stream: number, step: RecentStep): void {
    const steps = this.#streams.get(stream);
    if (steps === undefined || steps.at(-1)?.position !== step.position - 1) {
      this.#streams.set(stream, [step]);
      return;
    }
    steps.push(step);
    if (steps.length > 2 * kept) steps.splice(0, kept);
  }

  /** What came after the position; null: nothing is known, or not all of it. */
  after(from: { readonly stream: number; readonly position: number }): EventPage | null {
    const steps = this.#streams.get(from.stream) ?? [];
    const [first, last] = [steps[0], steps.at(-1)];
    if (first === undefined || last === undefined) return null;
    if (from.position < first.position - 1 || from.position >= last.position) return null;
    const later = steps.slice(from.position - first.position + 1);
    return { events: later.flatMap(({ events }) => events), position: last.position };
  }
}
