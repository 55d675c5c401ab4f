/**
 * How a patch changes a stored record. Both are given to SQLite as functions, so that merging happens inside the
 * transaction.
 */

/** The patch's keys replace the record's; a null is a value like any other. */
export function mergeRecords(record: string, patch: string): string {
  return JSON.stringify({ ...toObject(JSON.parse(record)), ...toObject(JSON.parse(patch)) });
}

/** Adds the patch's numbers, nested ones too. A number missing or null so far counts as 0; a null adds nothing. */
export function addNumbers(record: string, patch: string): string {
  return JSON.stringify(add(JSON.parse(record), JSON.parse(patch)));
}

function add(old: unknown, more: unknown): unknown {
  if (typeof more === "number") return (typeof old === "number" ? old : 0) + more;
  if (!isObject(more)) return old ?? more;
  const sums = { ...toObject(old) };
  for (const [key, value] of Object.entries(more)) sums[key] = add(sums[key], value);
  return sums;
}

function toObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
