import { UserError } from "../lib/errors.js";
import { typed } from "./typed.js";

/** A whole number of 1 or more, as typed. */
export function parseCount(flag: string, text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UserError(`${flag} ${typed(text)} is not a whole number of 1 or more`);
  return value;
}
