/** What a machine answers: the same shape as the kernel's, declared here because core imports nothing. */
export interface Next<S, F, R> {
  readonly state: S;
  readonly effects: readonly F[];
  /** Keys of owed effects nobody waits for any more. */
  readonly cancel?: readonly string[];
  readonly reports?: readonly R[];
}
