import { hashText } from "./ledger/hash.js";

/** A command's name as the name of its folder: what could lead elsewhere becomes "-", told apart by a hash of the name. */
export function folderName(name: string): string {
  const safe = name
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/\.\.+/g, "-")
    .replace(/^\./, "-");
  return safe === name && name !== "" ? name : `${safe}-${hashText(name).slice(0, 6)}`;
}
