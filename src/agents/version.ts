/** By the first two numbers; what cannot be read is not called old. */
export function isOlderVersion(version: string, least: string): boolean {
  const [major, minor] = numbersOf(version);
  const [leastMajor, leastMinor] = numbersOf(least);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

function numbersOf(version: string): readonly [major: number, minor: number] {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return [Number(major), Number(minor)];
}
