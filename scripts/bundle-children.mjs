import { readdirSync } from "node:fs";
import { build } from "rolldown";

/** Bundles test/children/*.ts into dist-test/, so that tests and benchmarks can start (and kill) them as real processes. */
export async function bundleChildren() {
  const names = readdirSync("test/children").filter((name) => name.endsWith(".ts"));
  await build({
    input: Object.fromEntries(names.map((name) => [name.replace(/\.ts$/, ""), `test/children/${name}`])),
    platform: "node",
    external: ["@photostructure/sqlite"],
    transform: { define: { __RATCHET_VERSION__: JSON.stringify("0.0.0-test") } },
    output: {
      dir: "dist-test",
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "chunks/[name]-[hash].mjs",
    },
  });
}
