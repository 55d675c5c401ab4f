/** Foreign JSON, looked at without trust: whatever is not what it should be is empty. */
export type Fields = Readonly<Record<string, unknown>>;

export function toFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
