const longest = 512;
const unusable = /[\p{Cc}\p{Cs}]/u;

/**
 * What may be a session's id, whoever tells it: it goes into variables, command lines and every state that has the session. Anything
 * else is as good as none (null).
 */
export function toSessionId(value: unknown): string | null {
  const isUsable = typeof value === "string" && value !== "" && value.length <= longest && !unusable.test(value);
  return isUsable ? value : null;
}
