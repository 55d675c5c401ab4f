/** For what belongs to no run's log. */
export function warn(text: string): void {
  process.stderr.write(`ratchet: ${text}\n`);
}
