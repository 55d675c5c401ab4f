/** 1-based; column in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}
/** A reference to a stage (or profile, or key), and where it is written. */
export interface Named {
  readonly name: string;
  readonly at: Position;
}
