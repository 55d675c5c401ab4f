/** What a program's options are, as far as a rule needs it. */
export interface OptionSpec {
  /** Letters that take a value. */
  readonly short?: string;
  /** Long names that take a value in the next word. */
  readonly long?: readonly string[];
  /** The first operand ends the options: the rest belongs to another program. */
  readonly leading?: boolean;
}

export interface Options {
  /** By letter or long name; flags without a value have "". */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly operands: readonly string[];
  /** Long names that may be the beginning of another one: most programs take `--targ` for `--target-directory`. */
  readonly partial: ReadonlySet<string>;
}

export function parseOptions(
  args: readonly string[],
  { short = "", long = [], leading = false }: OptionSpec = {},
): Options {
  const values = new Map<string, string[]>();
  const operands: string[] = [];
  const partial = new Set<string>();
  const put = (name: string, value: string) => values.set(name, [...(values.get(name) ?? []), value]);
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? "";
    if (word === "--") {
      operands.push(...args.slice(at + 1));
      break;
    }
    if (word.startsWith("--")) {
      const [name = "", value] = splitOnce(word.slice(2));
      const isWhole = long.includes(name);
      if (!isWhole && name.length > 1) partial.add(name);
      if (value !== null) put(name, value);
      else if (isWhole) put(name, args[++at] ?? "");
      // Nobody can tell an abbreviation from a flag of that name: the next word is taken for both.
      else if (partial.has(name) && long.some((each) => each.startsWith(name)))
        put(name, args[leading ? ++at : at + 1] ?? "");
      else put(name, "");
    } else if (word.startsWith("-") && word !== "-") {
      for (let letter = 1; letter < word.length; letter++) {
        const name = word[letter] ?? "";
        if (!short.includes(name)) {
          put(name, "");
          continue;
        }
        put(name, letter + 1 < word.length ? word.slice(letter + 1) : (args[++at] ?? ""));
        break;
      }
    } else if (leading) {
      operands.push(...args.slice(at));
      break;
    } else operands.push(word);
  }
  return { values, operands, partial };
}

export function has(options: Options, ...names: readonly string[]): boolean {
  return keysFor(options, names).length > 0;
}

export function all(options: Options, ...names: readonly string[]): readonly string[] {
  return keysFor(options, names).flatMap((key) => options.values.get(key) ?? []);
}

function keysFor({ values, partial }: Options, names: readonly string[]): readonly string[] {
  const isMeant = (key: string) =>
    names.includes(key) || (partial.has(key) && names.some((name) => name.length > 1 && name.startsWith(key)));
  return [...values.keys()].filter(isMeant);
}

function splitOnce(text: string): [string, string | null] {
  const at = text.indexOf("=");
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}
