import type { Way } from "./ways.js";

/**
 * Stages in rows, from the start downward. A way that leads up again is `back` and takes no part. A way over several rows
 * passes through a cell in each row between; ways to the same stage share these cells, so that drawings stay narrow.
 * `isDirect` leaves those cells out: a link may then skip rows, and a graph of any size stays cheap.
 */
export interface Layers {
  readonly rows: readonly (readonly Cell[])[];
  /** From a cell to one in the next row. */
  readonly links: readonly Link[];
  readonly back: ReadonlySet<Way>;
}
export interface Cell {
  readonly key: string;
  /** null: only a line passes. */
  readonly stage: string | null;
  readonly row: number;
}
export interface Link {
  readonly from: Cell;
  readonly to: Cell;
  readonly ways: readonly Way[];
}

export interface LayOutOptions {
  readonly start: string;
  readonly ways: readonly Way[];
  readonly isDirect?: boolean;
  /** At most so many stages in a row; the others go further down. */
  readonly mostInRow?: number;
}

export function layOut(stages: readonly string[], { start, ways, isDirect, mostInRow }: LayOutOptions): Layers {
  const back = findBack(stages, start, ways);
  const forward = ways.filter((way) => !back.has(way));
  const order = sortDown(stages, forward);
  const rowOf = assignRows(order, forward, mostInRow ?? Number.POSITIVE_INFINITY);
  const cells = new Map<string, Cell>();
  const rows = new Map<number, Cell[]>();
  const cellAt = (stage: string, row: number, target: string | null): Cell => {
    const key = target === null ? `at ${stage}` : `${row} to ${target}`;
    const known = cells.get(key);
    if (known !== undefined) return known;
    const cell: Cell = { key, stage: target === null ? stage : null, row };
    cells.set(key, cell);
    addTo(rows, row, cell);
    return cell;
  };
  for (const stage of stages) cellAt(stage, rowOf.get(stage) ?? 0, null);
  const links = new Map<string, { from: Cell; to: Cell; ways: Way[] }>();
  for (const way of forward) {
    const last = rowOf.get(way.to) ?? 0;
    let from = cellAt(way.from, rowOf.get(way.from) ?? 0, null);
    for (let row = isDirect ? last : from.row + 1; row <= last; row++) {
      const to = cellAt(way.to, row, row === last ? null : way.to);
      const key = `${from.key}\n${to.key}`;
      const link = links.get(key) ?? { from, to, ways: [] };
      link.ways.push(way);
      links.set(key, link);
      from = to;
    }
  }
  const all = [...links.values()];
  return { rows: orderRows(inOrder(rows), all), links: all, back };
}

/** Ways that lead back to where one came from; depth first from the start, then from what it does not reach. */
function findBack(stages: readonly string[], start: string, ways: readonly Way[]): Set<Way> {
  const outgoing = new Map<string, Way[]>(stages.map((id) => [id, []]));
  for (const way of ways) outgoing.get(way.from)?.push(way);
  const state = new Map<string, "open" | "done">();
  const back = new Set<Way>();
  for (const root of outgoing.has(start) ? [start, ...stages] : stages) {
    if (state.has(root)) continue;
    const path: { id: string; next: number }[] = [{ id: root, next: 0 }];
    state.set(root, "open");
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const way = outgoing.get(top.id)?.[top.next++];
      if (way === undefined) {
        state.set(top.id, "done");
        path.pop();
      } else if (state.get(way.to) === "open") back.add(way);
      else if (!state.has(way.to)) {
        state.set(way.to, "open");
        path.push({ id: way.to, next: 0 });
      }
    }
  }
  return back;
}

/** Every way forward leads on in this order; what comes at the same time keeps the order of the file. */
function sortDown(stages: readonly string[], forward: readonly Way[]): string[] {
  const missing = new Map<string, number>(stages.map((id) => [id, 0]));
  const outgoing = new Map<string, Way[]>();
  for (const way of forward) {
    addTo(outgoing, way.from, way);
    missing.set(way.to, (missing.get(way.to) ?? 0) + 1);
  }
  const order = stages.filter((id) => missing.get(id) === 0);
  for (const id of order) {
    for (const { to } of outgoing.get(id) ?? []) {
      const left = (missing.get(to) ?? 0) - 1;
      missing.set(to, left);
      if (left === 0) order.push(to);
    }
  }
  return order;
}

/** As far down as the longest way to it, or where there is room. */
function assignRows(order: readonly string[], forward: readonly Way[], most: number): Map<string, number> {
  const rowOf = new Map<string, number>(order.map((id) => [id, 0]));
  const taken = new Map<number, number>();
  const outgoing = new Map<string, Way[]>();
  for (const way of forward) addTo(outgoing, way.from, way);
  for (const id of order) {
    let row = rowOf.get(id) ?? 0;
    while ((taken.get(row) ?? 0) >= most) row++;
    taken.set(row, (taken.get(row) ?? 0) + 1);
    rowOf.set(id, row);
    for (const { to } of outgoing.get(id) ?? []) rowOf.set(to, Math.max(rowOf.get(to) ?? 0, row + 1));
  }
  return rowOf;
}

const sweeps = 4;

/** Each cell near the cells it is linked to, down and up in turn: few crossings. */
function orderRows(rows: readonly (readonly Cell[])[], links: readonly Link[]): Cell[][] {
  const above = new Map<string, string[]>();
  const below = new Map<string, string[]>();
  for (const { from, to } of links) {
    addTo(above, to.key, from.key);
    addTo(below, from.key, to.key);
  }
  const ordered = rows.map((row) => [...row]);
  const placeOf = new Map<string, number>();
  const remember = (row: readonly Cell[]) => {
    for (const [index, { key }] of row.entries()) placeOf.set(key, (index + 0.5) / row.length);
  };
  for (const row of ordered) remember(row);
  for (let sweep = 0; sweep < sweeps; sweep++) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? ordered : ordered.toReversed()) {
      const wanted = new Map(row.map((cell) => [cell.key, mean((isDown ? above : below).get(cell.key), placeOf)]));
      const rank = (cell: Cell) => wanted.get(cell.key) ?? placeOf.get(cell.key) ?? 0;
      row.sort((a, b) => rank(a) - rank(b));
      remember(row);
    }
  }
  return ordered;
}

function mean(keys: readonly string[] | undefined, placeOf: ReadonlyMap<string, number>): number | null {
  if (keys === undefined || keys.length === 0) return null;
  return keys.reduce((sum, key) => sum + (placeOf.get(key) ?? 0), 0) / keys.length;
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function inOrder(rows: ReadonlyMap<number, readonly Cell[]>): (readonly Cell[])[] {
  return [...rows.keys()].sort((a, b) => a - b).map((row) => rows.get(row) ?? []);
}
