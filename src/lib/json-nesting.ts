/**
 * Whether something stands within JSON that began before it, in a text that is too long to be kept: it comes in pieces, and
 * only what is open is remembered. JSON may begin at every brace and bracket of the prose; where it breaks, its braces count
 * as open until as many are closed, unless it never had a key.
 */
export class JsonNesting {
  /** Of what is open, the outermost first: whether it is an object, or else a list. */
  #open: boolean[] = [];
  #expected: Expected = keyOrEnd;
  /** Inside of a string: what is expected behind it. */
  #behindString: Expected | null = null;
  #isEscaped = false;
  /** A number or a word, as far as it is there. */
  #word = "";
  /** Braces that broken JSON has left open. */
  #broken = 0;
  #isTooDeep = false;

  add(text: string): void {
    for (let at = 0; at < text.length && !this.#isTooDeep; ) {
      if (this.#behindString !== null) at = this.#string(text, at);
      else if (this.#open.length === 0) at = this.#prose(text, at);
      else at = this.#step(text, at);
    }
  }

  /** Whether an object that comes after more text stands within nothing: only where that is certain. */
  isOutsideAfter(text: string): boolean {
    const after = new JsonNesting();
    after.#open = [...this.#open];
    after.#expected = this.#expected;
    after.#behindString = this.#behindString;
    after.#isEscaped = this.#isEscaped;
    after.#word = this.#word;
    after.#broken = this.#broken;
    after.#isTooDeep = this.#isTooDeep;
    after.add(text);
    // Its own brace may break what was open until then.
    after.add("{");
    return !after.#isTooDeep && after.#open.length === 1 && after.#behindString === null && after.#broken === 0;
  }

  /** Where to go on. */
  #step(text: string, start: number): number {
    let at = start;
    while (isWordPart(text.charCodeAt(at))) at++;
    if (at > start) {
      this.#word += text.slice(start, at);
      if (this.#word.length > longestWord) this.#break("");
      if (at === text.length) return at;
    }
    if (this.#word !== "" && !this.#endWord()) return at;
    const character = text.charAt(at);
    if (character === " " || character === "\n" || character === "\t" || character === "\r") return at + 1;
    if (this.#take(character)) return at + 1;
    // What breaks it may begin something else.
    this.#break(character);
    return at;
  }

  #prose(text: string, at: number): number {
    brace.lastIndex = at;
    const hit = brace.exec(text);
    if (hit === null) return text.length;
    if (hit[0] === "}") this.#broken = Math.max(0, this.#broken - 1);
    else this.#begin(hit[0]);
    return hit.index + 1;
  }

  #begin(character: string): void {
    this.#open.push(character === "{");
    this.#expected = character === "{" ? keyOrEnd : valueOrEnd;
    this.#isTooDeep = this.#open.length > deepest;
  }

  /** false: it cannot stand here. */
  #take(character: string): boolean {
    const isObject = this.#open.at(-1) === true;
    switch (character) {
      case '"':
        if (!this.#expected.takesKey && !this.#expected.takesValue) return false;
        this.#behindString = this.#expected.takesKey ? colon : next;
        return true;
      case "{":
      case "[":
        if (!this.#expected.takesValue) return false;
        this.#begin(character);
        return true;
      case ":":
        if (this.#expected !== colon) return false;
        this.#expected = value;
        return true;
      case ",":
        if (this.#expected !== next) return false;
        this.#expected = isObject ? key : value;
        return true;
      default:
        if (character !== (isObject ? "}" : "]") || !this.#expected.takesEnd) return false;
        this.#open.pop();
        this.#expected = next;
        return true;
    }
  }

  #string(text: string, start: number): number {
    if (this.#isEscaped) {
      this.#isEscaped = false;
      return start + 1;
    }
    let at = start;
    while (!isNotable(text.charCodeAt(at))) at++;
    if (at >= text.length) return at;
    const character = text.charAt(at);
    if (character === "\\") this.#isEscaped = true;
    else if (character === '"') {
      this.#expected = this.#behindString ?? next;
      this.#behindString = null;
    } else this.#break(character);
    return at + 1;
  }

  #endWord(): boolean {
    const isOne = this.#expected.takesValue && numberOrWord.test(this.#word);
    if (isOne) this.#expected = next;
    else this.#break("");
    this.#word = "";
    return isOne;
  }

  #break(character: string): void {
    const objects = this.#open.filter((isObject) => isObject).length;
    const hasKey = objects > 1 || this.#expected !== keyOrEnd || this.#behindString !== null || character === "'";
    if (this.#broken > 0 || hasKey) this.#broken += objects;
    this.#open = [];
    this.#behindString = null;
    this.#word = "";
  }
}

interface Expected {
  readonly takesKey: boolean;
  readonly takesValue: boolean;
  readonly takesEnd: boolean;
}
const key: Expected = { takesKey: true, takesValue: false, takesEnd: false };
const keyOrEnd: Expected = { ...key, takesEnd: true };
const colon: Expected = { ...key, takesKey: false };
const value: Expected = { ...colon, takesValue: true };
const valueOrEnd: Expected = { ...value, takesEnd: true };
const next: Expected = { ...colon, takesEnd: true };

/** A writer that goes deeper is not followed. */
const deepest = 100_000;
const longestWord = 1000;
const brace = /[{}[]/g;
const numberOrWord = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** Letters, digits, and what else a number has. */
function isWordPart(code: number): boolean {
  const isDigit = code >= 48 && code <= 57;
  const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
  return isDigit || isLetter || code === 43 || code === 45 || code === 46;
}

/** What ends a string or may not stand in one, and the end of the text. */
function isNotable(code: number): boolean {
  return code === 34 || code === 92 || !(code >= 32);
}
