/** The way out of a judgement, from however deep: caught in decide, nowhere else. The text is for the agent. */
export class Refused extends Error {
  override readonly name = "Refused";
}

export function refuse(reason: string): never {
  throw new Refused(reason);
}
