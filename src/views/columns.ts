/** A text table that fits: columns are dropped, then cut, until the lines are no wider than the terminal, at the worst beyond what they should have. */
export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** May be cut down to this width; absent: not cut. */
  readonly least?: number;
  /** Left out when there is no room, the highest number first; absent: always there. */
  readonly drop?: number;
}
export interface Room {
  /** null: no terminal, every column in full. */
  readonly columns: number | null;
  /** How many cells a text takes. */
  readonly width: (text: string) => number;
}
/** Colours a cell after it was padded. `row` is null for the titles. */
export type Paint = (text: string, at: { readonly row: number | null; readonly column: string }) => string;

/** Narrow terminals have no room for air. */
function gapOf(columns: number | null): number {
  return columns !== null && columns < 60 ? 1 : 2;
}

export function renderColumns(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  room: Room & { readonly paint?: Paint },
): string[] {
  const cells = [columns.map((column) => column.title), ...rows];
  const natural = columns.map((_, index) => Math.max(...cells.map((row) => room.width(row[index] ?? ""))));
  const widths = fitWidths(columns, natural, room.columns);
  const last = widths.findLastIndex((width) => width > 0);
  return cells.map((row, line) => {
    const parts = columns.flatMap((column, index) => {
      const cellWidth = widths[index] ?? 0;
      if (cellWidth === 0) return [];
      const text = cut(row[index] ?? "", cellWidth, room.width);
      const padded = pad(text, { column, cellWidth, isLast: index === last, width: room.width });
      return [room.paint ? room.paint(padded, { row: line === 0 ? null : line - 1, column: column.title }) : padded];
    });
    return parts.join(" ".repeat(gapOf(room.columns)));
  });
}

/** Width 0: the column is left out. */
function fitWidths(columns: readonly Column[], natural: readonly number[], limit: number | null): number[] {
  const widths = [...natural];
  if (limit === null) return widths;
  const total = (): number => {
    const shown = widths.filter((width) => width > 0);
    return shown.reduce((sum, width) => sum + width, 0) + gapOf(limit) * Math.max(0, shown.length - 1);
  };
  const least = (index: number): number => Math.min(widths[index] ?? 0, columns[index]?.least ?? widths[index] ?? 0);
  const slack = (): number => widths.reduce((sum, width, index) => sum + width - least(index), 0);
  const droppable = columns
    .flatMap(({ drop }, index) => (drop === undefined ? [] : [{ index, drop }]))
    .sort((a, b) => b.drop - a.drop);
  for (const { index } of droppable) {
    if (total() - slack() <= limit) break;
    widths[index] = 0;
  }
  while (total() > limit && slack() > 0) {
    const next = widths
      .flatMap((width, index) => (width > least(index) ? [{ index, width, drop: columns[index]?.drop ?? 0 }] : []))
      .sort((a, b) => b.drop - a.drop || b.width - a.width)[0];
    if (next) widths[next.index] = next.width - 1;
  }
  for (let widest = Math.max(...widths); total() > limit && widest > 1; widest = Math.max(...widths)) {
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function pad(
  text: string,
  how: {
    readonly column: Column;
    readonly cellWidth: number;
    readonly isLast: boolean;
    readonly width: Room["width"];
  },
): string {
  const space = " ".repeat(Math.max(0, how.cellWidth - how.width(text)));
  if (how.column.align === "right") return space + text;
  return how.isLast ? text : text + space;
}

/** Ends in `…` where something is missing. */
export function cut(text: string, max: number, width: Room["width"]): string {
  if (width(text) <= max) return text;
  let kept = "";
  for (const character of text) {
    if (width(kept + character) > max - 1) break;
    kept += character;
  }
  return max > 0 ? `${kept}…` : "";
}
