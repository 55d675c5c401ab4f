/** Texts that programs send in the person's name: reminders, surroundings, instructions. The person did not say them. */
const byProgram = /^\s*(<[a-z][a-z_-]*>|<[a-z][a-z_-]* [^>]*>|# AGENTS\.md instructions|Caveat: )/;

export interface Said {
  /** A text of the person, or a tool's answer. Anything else is null. */
  readonly text: string | null;
  readonly toolResult: string | null;
}

function isPersons(text: string): boolean {
  return text.trim() !== "" && !byProgram.test(text);
}

/** What the person said last, and what tools have answered since then. `turns`: one list for each message. */
export function readConversation(turns: readonly (readonly Said[])[]) {
  let [prompt, prompts, toolResults] = ["", 0, [] as string[]];
  for (const turn of turns) {
    const texts = turn.flatMap(({ text }) => (text !== null && isPersons(text) ? [text] : []));
    if (texts.length > 0) [prompt, prompts, toolResults] = [texts.join("\n"), prompts + 1, []];
    toolResults.push(...turn.flatMap(({ toolResult }) => (toolResult === null ? [] : [toolResult])));
  }
  return { prompt, prompts, toolResults };
}
