import { hashText } from "./ledger/hash.js";

/** Of an attempt: numbered by its machine, so that folders stand in the order of what happened. */
export function numberedFolder(number: number, name: string): string {
  return `${String(number).padStart(2, "0")}-${name}`;
}

/** No file system takes more than 255, and a number or an ending comes with it. */
const longest = 100;

/** A name as that of a folder: what could lead elsewhere becomes "-", what is long is cut, told apart by a hash of the name. */
export function folderName(name: string): string {
  const safe = name
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/\.\.+/g, "-")
    .replace(/^\./, "-");
  const isShort = safe.length <= longest;
  return safe === name && name !== "" && isShort
    ? name
    : `${safe.slice(0, longest)}-${hashText(name).slice(0, isShort ? 6 : 16)}`;
}
