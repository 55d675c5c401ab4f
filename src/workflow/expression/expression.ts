import type { Position } from "../position.js";

/** A condition, of KDL's `when` or of DOT's `condition`. */
export type Expression =
  | { readonly type: "literal"; readonly value: string | number | boolean }
  /** The outcome of a stage's last visit; "" when it has not run. `stage` null: the stage that has just ended (DOT). */
  | { readonly type: "outcome"; readonly stage: string | null; readonly at: Position }
  /** A value that a stage has put out; the same store as `context`. A missing one is "". */
  | { readonly type: "output"; readonly key: string }
  | { readonly type: "context"; readonly key: string }
  | { readonly type: "exists"; readonly key: string }
  /** DOT: the label that the stage which has just ended would like. */
  | { readonly type: "preferred-label" }
  | { readonly type: "equal"; readonly left: Expression; readonly right: Expression }
  | { readonly type: "not-equal"; readonly left: Expression; readonly right: Expression }
  | { readonly type: "and"; readonly left: Expression; readonly right: Expression }
  | { readonly type: "or"; readonly left: Expression; readonly right: Expression }
  | { readonly type: "not"; readonly operand: Expression };
