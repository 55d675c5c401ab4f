/**
 * Ctrl-D in an empty field closes the input, and a prompt of clack's would wait for ever: it is aborted then. So it is with
 * `outer`.
 */
export async function whileInputIsOpen<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<{ readonly answer: T; readonly isClosed: boolean }> {
  // A prompt that was answered still listens: what is aborted later would take the terminal from the one that is shown then.
  const open = new AbortController();
  const close = () => open.abort();
  let isClosed = false;
  const onKey = (_typed: unknown, key: { readonly name?: string; readonly ctrl?: boolean } | undefined) => {
    if (key?.ctrl !== true || key.name !== "d" || !process.stdin.isPaused()) return;
    isClosed = true;
    close();
  };
  if (outer?.aborted) close();
  outer?.addEventListener("abort", close);
  const asked = ask(open.signal);
  // After the prompt's own: it has seen the key by then.
  process.stdin.on("keypress", onKey);
  try {
    return { answer: await asked, isClosed };
  } finally {
    process.stdin.off("keypress", onKey);
    outer?.removeEventListener("abort", close);
  }
}
