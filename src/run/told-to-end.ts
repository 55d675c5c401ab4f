import type { EndingWord } from "../core/issue/events.js";

/**
 * That a run was told to end, known to its process as soon as it hears it. The signal itself is a row in an inbox, which
 * may be long in coming: another program may have the database, and from the run to its lives it is a second row. What
 * arrives meanwhile is told of it, so that nothing new begins behind the word that nothing does.
 */
export class ToldToEnd {
  #word: EndingWord | null = null;

  /** A stop is the last word. */
  hear(word: EndingWord): void {
    if (this.#word !== "stop") this.#word = word;
  }
  get isTold(): boolean {
    return this.#word !== null;
  }
  /** What goes with every arrival. */
  stamp(): { readonly ending?: EndingWord } {
    return this.#word === null ? {} : { ending: this.#word };
  }
}
