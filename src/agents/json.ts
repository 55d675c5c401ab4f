import { parseJson } from "../lib/parse-json.js";

/** Foreign JSON, looked at without trust: whatever is not what it should be is empty. */
export type Fields = Readonly<Record<string, unknown>>;

export function parseFields(line: string): Fields | null {
  // Foreign text among the lines is nobody's event.
  const value = parseJson(line);
  return isFields(value) ? value : null;
}

export function toFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function toAmount(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
