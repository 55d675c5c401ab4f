import type { EndingWord } from "../core/issue/events.js";

const words: readonly EndingWord[] = ["drain", "abort", "stop"];

/**
 * That a run was told to end, or aborts, known to its process as soon as it hears it. The signal itself is a row in an inbox, which
 * may be long in coming: another program may have the database, and from the run to its lives it is a second row. What
 * arrives meanwhile is told of it, so that nothing new begins behind the word that nothing does.
 */
export class ToldToEnd {
  #word: EndingWord | null = null;

  /** The hardest word counts. */
  hear(word: EndingWord): void {
    if (this.#word === null || words.indexOf(word) > words.indexOf(this.#word)) this.#word = word;
  }
  get isTold(): boolean {
    return this.#word !== null;
  }
  /** What goes with every arrival. */
  stamp(): { readonly ending?: EndingWord } {
    return this.#word === null ? {} : { ending: this.#word };
  }
}
