/** How often something random is tried: a few times at each change, `RATCHET_LONG=1 npm test` looks for what is rare. */
export function rounds(few: number, many: number): number {
  return process.env.RATCHET_LONG === "1" ? many : few;
}
