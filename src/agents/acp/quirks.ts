/** Where a program is known to differ from what the protocol says, by the name it gives itself. */
export interface Quirks {
  /** It goes on telling the history of a session after it has answered that the session is loaded. */
  readonly tellsHistoryLate: boolean;
  /** It takes every error of reading a file for a failure, so that it could never write a new one. */
  readonly readsMissingAsEmpty: boolean;
  /** The title of a command is the command, whatever it begins with. */
  readonly titlesCommands: boolean;
  /** Tokens are those of the last answer alone, and the cost is that of the whole session. */
  readonly countsBySession: boolean;
}

const none: Quirks = {
  tellsHistoryLate: false,
  readsMissingAsEmpty: false,
  titlesCommands: false,
  countsBySession: false,
};

export function quirksOf(program: string): Quirks {
  if (program === "gemini-cli") {
    return { ...none, tellsHistoryLate: true, readsMissingAsEmpty: true, titlesCommands: true };
  }
  return program === "OpenCode" ? { ...none, countsBySession: true } : none;
}
