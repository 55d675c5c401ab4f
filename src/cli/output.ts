import { fstatSync, writeSync } from "node:fs";
import { codeOf, messageOf } from "../lib/errors.js";
import { jsonText } from "../lib/json-text.js";
import { redactor } from "../lib/redact.js";

/**
 * The two streams. Whoever reads them may go away at any moment (`ratchet run | head`): what is written afterwards is
 * dropped, and the work goes on. A file that cannot take it (`> file` on a full disk) is told once on stderr. Text for
 * people is free of secrets; JSON is printed as it is.
 */
export interface Output {
  /** A line for people on stdout. */
  line(text: string): void;
  /** A line for people on stderr: remarks, never results. */
  note(text: string): void;
  /** Text for people on stdout, as it is. */
  text(text: string): void;
  /** What need not be UTF-8, on stdout, byte for byte; as text where a secret has to be taken out of it. */
  bytes(bytes: Buffer): void;
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
  /** Aborted when nobody reads stdout any longer, or it cannot be written. */
  readonly gone: AbortSignal;
  /** Something that belongs on stdout could not be written. */
  readonly isCut: boolean;
  /** Resolves when everything written to stdout has left this process, or cannot any more. */
  flushed(): Promise<void>;
}

type Stream = NodeJS.WriteStream & { readonly fd: number };
type Streams = Pick<NodeJS.Process, "stdout" | "stderr">;

export function openOutput(streams: Streams, env: NodeJS.ProcessEnv): Output {
  const { stdout } = streams;
  const gone = new AbortController();
  let isCut = false;
  const write = writer(stdout, {
    onGone: () => gone.abort(),
    onCut: (reason) => {
      isCut = true;
      note(`ratchet: the output could not be written: ${reason}`);
    },
  });
  // Opening a stream takes its time, and most commands have no remark to make.
  let writeError: Write | null = null;
  const redact = redactor(env);
  const note = (text: string): void => {
    writeError ??= writer(streams.stderr, { onGone: () => undefined, onCut: () => undefined });
    writeError(`${redact(text)}\n`);
  };
  if (stdout.isTTY) assumeSize(stdout);
  const isTerminal = stdout.isTTY === true && env.TERM !== "dumb" && !env.CI;
  return {
    line: (text) => write(`${redact(text)}\n`),
    note,
    text: (text) => write(redact(text)),
    bytes: (bytes) => {
      const text = bytes.toString("utf8");
      const safe = redact(text);
      write(safe === text ? bytes : safe);
    },
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
    get isCut() {
      return isCut;
    },
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

interface Ends {
  /** Nothing that is written arrives any longer. */
  onGone(): void;
  /** Not because somebody went away. */
  onCut(reason: string): void;
}

type Write = (text: string | Buffer) => void;

function writer(stream: Stream, ends: Ends): Write {
  let isOpen = true;
  const end = (): void => {
    isOpen = false;
    ends.onGone();
  };
  stream.on("error", (error) => {
    end();
    const code = codeOf(error) ?? "";
    if (!["EPIPE", "ERR_STREAM_DESTROYED", "ECONNRESET", "EIO", "ENOSPC", "EBADF"].includes(code)) throw error;
  });
  if (hasReader(stream)) {
    return (text) => {
      if (isOpen) stream.write(text);
    };
  }
  return (text) => {
    if (!isOpen) return;
    try {
      writeWhole(stream.fd, text);
    } catch (error) {
      end();
      ends.onCut(messageOf(error).replace(/^[A-Z\d]+: (.+), write$/, "$1"));
    }
  };
}

function hasReader({ isTTY, fd }: Stream): boolean {
  if (isTTY) return true;
  const stat = fstatSync(fd);
  return stat.isFIFO() || stat.isSocket();
}

/** Node's own stream takes it for written when a file had room for the beginning. */
function writeWhole(fd: number, text: string | Buffer): void {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}
