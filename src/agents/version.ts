/** By the first two numbers; what cannot be read is not called old, nor 0.0, which programs built from source say. */
export function isOlderVersion(version: string, least: string): boolean {
  const [major, minor] = numbersOf(version);
  if (major === 0 && minor === 0) return false;
  const [leastMajor, leastMinor] = numbersOf(least);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

function numbersOf(version: string): readonly [major: number, minor: number] {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return [Number(major), Number(minor)];
}
