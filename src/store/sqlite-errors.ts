import { ExternalError, UserError } from "../lib/errors.js";

const busy = 5;
const lockedTable = 6;
const readOnly = 8;
const ioError = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const notADatabase = 26;

/** SQLite's 512, less what it appends for its journal. */
const longestPath = 504;

export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === busy || code === lockedTable;
}

/** The same failure as one sentence with a hint; what is no failure of the database stays as it is. */
export function toStoreError(error: unknown, path: string): unknown {
  switch (primaryCode(error)) {
    case full:
      return external(
        error,
        `the disk is full: ${path} could not be written`,
        "free some space and start again; nothing recorded is lost",
      );
    case readOnly:
    case cannotOpen:
      if (Buffer.byteLength(path) > longestPath) {
        return external(
          error,
          `the path of the database is too long: ${Buffer.byteLength(path)} bytes, ${longestPath} can be opened`,
          "set RATCHET_HOME to a shorter one",
        );
      }
      return external(
        error,
        `the database ${path} cannot be opened for writing`,
        "make its folder writable, or set RATCHET_HOME to another one",
      );
    case ioError:
      return external(
        error,
        `the disk failed while ${path} was used`,
        "check the disk and its free space, then start again",
      );
    case corrupt:
    case notADatabase:
      return new UserError(`${path} is not a Ratchet database, or it is damaged`, {
        code: "not-a-database",
        hint: "move it away (Ratchet then makes a new one), or set RATCHET_HOME to another folder",
        cause: error,
      });
    default:
      return error;
  }
}

function external(cause: unknown, message: string, hint: string): ExternalError {
  return new ExternalError("database", message, { hint, cause });
}

/** SQLite's result code without the detail that its upper bits add; null for any other error. */
function primaryCode(error: unknown): number | null {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return null;
  return error.errcode & 0xff;
}
