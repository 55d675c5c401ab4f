import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { bundleChildren } from "../scripts/bundle-children.mjs";

/**
 * Runs every benchmark of this folder (or those named as arguments), each of which measures both sides of its ratio in
 * the same run. A figure over its limit makes the exit code 1.
 */
const folder = new URL(".", import.meta.url).pathname;
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".mjs") && !["run.mjs", "measure.mjs"].includes(name))
  .map((name) => basename(name, ".mjs"));
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(", ")}; there are ${names.join(", ")}`);
  process.exit(2);
}

await bundleChildren();

const results = [];
for (const name of asked.length > 0 ? asked : names) {
  const { run } = await import(join(folder, `${name}.mjs`));
  for (const result of await run()) {
    results.push(result);
    const verdict = result.measured <= result.limit ? "ok  " : "OVER";
    const figure = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ${result.unit}`;
    console.log(`${verdict} ${result.name}: ${figure(result.measured)} (limit ${figure(result.limit)})`);
  }
}
mkdirSync(join(folder, "results"), { recursive: true });
writeFileSync(join(folder, "results", "last.json"), `${JSON.stringify(results, null, 2)}\n`);
process.exitCode = results.every(({ measured, limit }) => measured <= limit) ? 0 : 1;
