import type { Position } from "../position.js";

/** KDL as our own small nodes, with places in the file as it is written. */
export interface KdlNode {
  readonly name: string;
  readonly at: Position;
  readonly args: readonly KdlValue[];
  readonly properties: readonly KdlProperty[];
  readonly children: readonly KdlNode[];
}
export interface KdlProperty {
  readonly name: string;
  readonly at: Position;
  readonly value: KdlValue;
}
export interface KdlValue {
  readonly value: string | number | boolean | null;
  readonly at: Position;
  /** Of a character of the value. */
  place(index: number): Position;
}
