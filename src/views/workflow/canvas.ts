/** Directions that a line leaves a cell in. */
const up = 1;
const right = 2;
const down = 4;
const left = 8;
/** By the sum of directions. */
const lines = " ╵╶└╷│┌├╴┘─┴┐┤┬┼";

/** What a reader takes for one character: a flag, or a family of several signs, has one width. */
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Characters and lines on a grid; where lines meet, the fitting sign is found. */
export class Canvas {
  private readonly rows: (string | number)[][] = [];
  private readonly widthOf: (text: string) => number;

  constructor(widthOf: (text: string) => number) {
    this.widthOf = widthOf;
  }

  text(x: number, y: number, text: string): void {
    let at = x;
    for (const { segment: character } of graphemes.segment(text)) {
      const width = this.widthOf(character);
      if (width === 0) this.append(at - 1, y, character);
      else this.put(at, y, character);
      for (let more = 1; more < width; more++) this.put(at + more, y, "");
      at += width;
    }
  }

  vertical(x: number, from: number, to: number): void {
    for (let y = from; y <= to; y++) this.join(x, y, (y > from ? up : 0) | (y < to ? down : 0));
  }

  horizontal(y: number, from: number, to: number): void {
    for (let x = Math.min(from, to); x <= Math.max(from, to); x++)
      this.join(x, y, (x > Math.min(from, to) ? left : 0) | (x < Math.max(from, to) ? right : 0));
  }

  box(x: number, y: number, { width, height }: { readonly width: number; readonly height: number }): void {
    const [endX, endY] = [x + width - 1, y + height - 1];
    this.horizontal(y, x, endX);
    this.horizontal(endY, x, endX);
    this.vertical(x, y, endY);
    this.vertical(endX, y, endY);
  }

  /** A line that leaves the cell downward. */
  openDown(x: number, y: number): void {
    this.join(x, y, down);
  }

  /** Each row as its cells; a wide character's second cell is "". */
  cells(): string[][] {
    return this.rows.map((row) =>
      Array.from(row, (cell) => (typeof cell === "number" ? (lines[cell] ?? " ") : (cell ?? " "))),
    );
  }

  /** A sign on top of the character before it. */
  private append(x: number, y: number, sign: string): void {
    const row = this.rows[y];
    const before = row?.[x];
    if (row !== undefined && typeof before === "string") row[x] = before + sign;
  }

  private put(x: number, y: number, value: string | number): void {
    while (this.rows.length <= y) this.rows.push([]);
    const row = this.rows[y];
    if (row !== undefined) row[x] = value;
  }

  private join(x: number, y: number, directions: number): void {
    const before = this.rows[y]?.[x];
    if (typeof before !== "string") this.put(x, y, (before ?? 0) | directions);
  }
}
