import { confirm, intro, isCancel, multiselect, note, outro, select, text } from "@clack/prompts";
import { whileInputIsOpen } from "../open-input.js";
import { type Asker, type Cancelled, cancelled, type Option } from "./question.js";

/** The wizard's face. Ctrl-C, Ctrl-D and Escape all mean: no further. */
export const terminalAsker: Asker = {
  tell: async ({ title, text: words }) => {
    note(words, title);
    return null;
  },
  one: async ({ message, options, initial }) =>
    orCancelled((signal) => select({ message, options: options.map(toOption), initialValue: initial, signal })),
  some: async ({ message, options, initial }) =>
    orCancelled((signal) =>
      multiselect({ message, options: options.map(toOption), initialValues: [...initial], required: false, signal }),
    ),
  text: async ({ message, initial, example, check }) =>
    orCancelled((signal) =>
      text({
        message,
        signal,
        ...(initial === "" ? {} : { initialValue: initial }),
        ...(example === undefined ? {} : { placeholder: example }),
        defaultValue: "",
        validate: (value) => check(value ?? "") ?? undefined,
      }),
    ),
  confirm: async ({ message, initial }) => orCancelled((signal) => confirm({ message, initialValue: initial, signal })),
};

function toOption({ value, label, hint, disabled }: Option) {
  return { value, label, ...(hint === undefined ? {} : { hint }), ...(disabled ? { disabled } : {}) };
}

async function orCancelled<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<Exclude<T, symbol> | Cancelled> {
  const { answer } = await whileInputIsOpen(ask);
  return isCancel(answer) ? cancelled : (answer as Exclude<T, symbol>);
}

export { intro, note, outro };
