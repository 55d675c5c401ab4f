import { codeOf } from "../lib/errors.js";
import { jsonText } from "../lib/json-text.js";
import { redactor } from "../lib/redact.js";

/**
 * The two streams. Whoever reads them may go away at any moment (`ratchet run | head`): what is written afterwards is
 * dropped, and the work goes on. Text for people is free of secrets; JSON is printed as it is.
 */
export interface Output {
  /** A line for people on stdout. */
  line(text: string): void;
  /** A line for people on stderr: remarks, never results. */
  note(text: string): void;
  /** Text for people on stdout, as it is. */
  text(text: string): void;
  /** One JSON document on stdout. */
  json(value: unknown): void;
  /** One JSON value on one line of stdout. */
  jsonLine(value: unknown): void;
  /** Text on stdout as it is: JSON, or what is free of secrets already. */
  piece(text: string): void;
  readonly redact: (text: string) => string;
  /** A person is watching: redrawing is welcome. */
  readonly isTerminal: boolean;
  readonly columns: number;
  /** How wide a table may be: the terminal, or what COLUMNS says of another reader; null: nothing is cut. */
  readonly tableColumns: number | null;
  readonly rows: number;
  /** Aborted when nobody reads stdout any longer. */
  readonly gone: AbortSignal;
  /** Resolves when everything written to stdout has left this process, or cannot any more. */
  flushed(): Promise<void>;
}

type Streams = Pick<NodeJS.Process, "stdout" | "stderr">;

export function openOutput(streams: Streams, env: NodeJS.ProcessEnv): Output {
  const { stdout } = streams;
  const gone = new AbortController();
  const write = writer(stdout, () => gone.abort());
  // Opening a stream takes its time, and most commands have no remark to make.
  let writeError: ((text: string) => void) | null = null;
  const redact = redactor(env);
  if (stdout.isTTY) assumeSize(stdout);
  const isTerminal = stdout.isTTY === true && env.TERM !== "dumb" && !env.CI;
  return {
    line: (text) => write(`${redact(text)}\n`),
    note: (text) => {
      writeError ??= writer(streams.stderr, () => undefined);
      writeError(`${redact(text)}\n`);
    },
    text: (text) => write(redact(text)),
    json: (value) => write(`${jsonText(value, 2)}\n`),
    jsonLine: (value) => write(`${jsonText(value)}\n`),
    piece: write,
    redact,
    isTerminal,
    get columns() {
      return stdout.columns ?? 80;
    },
    get tableColumns() {
      return isTerminal ? (stdout.columns ?? 80) : columnsIn(env);
    },
    get rows() {
      return stdout.rows ?? 24;
    },
    gone: gone.signal,
    flushed: () =>
      new Promise((resolve) => {
        if (gone.signal.aborted) return resolve();
        gone.signal.addEventListener("abort", () => resolve());
        stdout.write("", () => resolve());
      }),
  };
}

/**
 * Some terminals (a bare pty, a container's) do not know how large they are, and what has no room cannot be read. Set on
 * the stream itself, because what draws on it asks there; a terminal that is told its size later overrules it.
 */
function assumeSize(terminal: NodeJS.WriteStream): void {
  if (!terminal.columns) terminal.columns = 80;
  if (!terminal.rows) terminal.rows = 24;
}

function columnsIn({ COLUMNS: told = "" }: NodeJS.ProcessEnv): number | null {
  return /^[1-9]\d{0,3}$/.test(told) ? Number(told) : null;
}

function writer(stream: NodeJS.WriteStream, onGone: () => void): (text: string) => void {
  let isOpen = true;
  stream.on("error", (error) => {
    isOpen = false;
    onGone();
    const code = codeOf(error) ?? "";
    // A full disk behind `> file` is not ours to report on the stream that failed; nothing of the run depends on it.
    if (!["EPIPE", "ERR_STREAM_DESTROYED", "ECONNRESET", "EIO", "ENOSPC", "EBADF"].includes(code)) throw error;
  });
  return (text) => {
    if (isOpen) stream.write(text);
  };
}
