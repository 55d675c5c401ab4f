/** What is told on the board about an item besides its changes of status; keys as `observe --json` prints them. */
export type BoardEvent =
  /** On the implementation item: somebody asked for changes. */
  | {
      readonly type: "work_rejected";
      readonly pr_number: number;
      readonly rework_cycle: number;
      readonly reason: string;
      readonly rework_item_id: string | null;
    }
  /** `prNumber` and `maxCycles` where it came from the cycles of a pull request. */
  | {
      readonly type: "human_escalation";
      readonly prNumber?: number;
      readonly maxCycles?: number;
      readonly reason: string;
    }
  | {
      readonly type: "comments_fetch";
      readonly result: "ok" | "timeout" | "error";
      /** Which part could not be fetched; null: all of them are meant. */
      readonly part: string | null;
      readonly reason?: string;
    }
  | { readonly type: "log"; readonly level: "info" | "warning"; readonly text: string };
