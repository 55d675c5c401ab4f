import { confirm, intro, isCancel, multiselect, note, outro, select, text } from "@clack/prompts";
import { type Asker, type Cancelled, cancelled, type Option } from "./question.js";

/** The wizard's face. Ctrl-C and Escape both mean: no further. */
export const terminalAsker: Asker = {
  tell: async ({ title, text: words }) => {
    note(words, title);
    return null;
  },
  one: async ({ message, options, initial }) =>
    orCancelled(await select({ message, options: options.map(toOption), initialValue: initial })),
  some: async ({ message, options, initial }) =>
    orCancelled(
      await multiselect({ message, options: options.map(toOption), initialValues: [...initial], required: false }),
    ),
  text: async ({ message, initial, example, check }) =>
    orCancelled(
      await text({
        message,
        ...(initial === "" ? {} : { initialValue: initial }),
        ...(example === undefined ? {} : { placeholder: example }),
        defaultValue: "",
        validate: (value) => check(value ?? "") ?? undefined,
      }),
    ),
  confirm: async ({ message, initial }) => orCancelled(await confirm({ message, initialValue: initial })),
};

function toOption({ value, label, hint, disabled }: Option) {
  return { value, label, ...(hint === undefined ? {} : { hint }), ...(disabled ? { disabled } : {}) };
}

function orCancelled<T>(value: T): Exclude<T, symbol> | Cancelled {
  return isCancel(value) ? cancelled : (value as Exclude<T, symbol>);
}

export { intro, note, outro };
