type Ask<Q, A> = (question: Q, signal: AbortSignal) => Promise<A | null>;

/** One question at a time: what is typed answers the one that is shown, and no other. */
export function inTurn<Q, A>(ask: Ask<Q, A>): Ask<Q, A> {
  let last: Promise<unknown> = Promise.resolve();
  return (question, signal) => {
    const turn = last.then(async () => (signal.aborted ? null : await ask(question, signal)));
    // How a question failed is told to whoever asked it; the next one has its turn all the same.
    last = turn.catch(() => undefined);
    return turn;
  };
}
