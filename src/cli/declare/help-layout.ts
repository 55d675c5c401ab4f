import { Help } from "commander";

/** Less room than this beside the terms is none. */
const leastBeside = 36;
const below = "      ";

/** In a narrow terminal what a term means stands below it: the parser's own layout leaves such lines to be broken anywhere. */
export const helpLayout = {
  minWidthToWrap: 20,
  formatItem(this: Help, term: string, termWidth: number, description: string, helper: Help): string {
    const width = this.helpWidth ?? 80;
    if (description === "" || width - termWidth - 4 >= leastBeside) {
      return Help.prototype.formatItem.call(this, term, termWidth, description, helper);
    }
    const lines = helper.boxWrap(description, width - below.length).split("\n");
    return [`  ${term}`, ...lines.map((line) => `${below}${line}`)].join("\n");
  },
};
