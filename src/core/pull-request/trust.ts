/** As GitHub tells them. */
export const associations: readonly string[] = [
  ...["OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR"],
  ...["FIRST_TIME_CONTRIBUTOR", "FIRST_TIMER", "MANNEQUIN", "NONE"],
];

/**
 * `trusted` names associations (OWNER) and logins ("coderabbitai[bot]", or "@jo"); logins are compared as the forge
 * does, without case.
 */
export function isTrusted(
  trusted: readonly string[],
  { login, association }: { readonly login: string | null; readonly association: string },
): boolean {
  if (trusted.includes(association)) return true;
  return login !== null && trusted.some((one) => one.replace(/^@/, "").toLowerCase() === login.toLowerCase());
}

/** Accounts of programs repeat themselves; people mean it when they say something twice. */
export function isBot(login: string | null): boolean {
  return login?.endsWith("[bot]") ?? false;
}
