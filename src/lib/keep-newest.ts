/** Maps and sets hand out what was put in first before the rest: of that as much goes as is too much. */
export function keepNewest<K>(kept: Map<K, unknown> | Set<K>, atMost: number): void {
  for (const oldest of kept.keys()) {
    if (kept.size <= atMost) return;
    kept.delete(oldest);
  }
}
