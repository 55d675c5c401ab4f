import { readFileSync } from "node:fs";
import { defineConfig } from "rolldown";

const { version } = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));

/** Says how Node is to read the files beside it. */
const files = (type) => ({
  name: "type-of-files",
  generateBundle() {
    this.emitFile({ type: "asset", fileName: "package.json", source: `${JSON.stringify({ type })}\n` });
  },
});

const common = {
  platform: "node",
  // The binding finds its prebuilt file relative to its own package.
  external: ["@photostructure/sqlite"],
  optimization: { inlineConst: true },
  transform: { define: { __RATCHET_VERSION__: JSON.stringify(version) } },
};

const written = {
  minify: { compress: true, mangle: false, codegen: false },
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
  comments: { jsdoc: false },
};

export default defineConfig([
  {
    ...common,
    input: {
      ratchet: "src/cli/main.ts",
      scripted: "src/agents/scripted/program.ts",
      cerberus: "src/reviewers/cerberus/program.ts",
      hook: "src/hook/program.ts",
      acp: "src/agents/acp/program.ts",
      "responses-agent": "src/agents/responses/program.ts",
      conformance: "src/cli/conformance/main.ts",
    },
    plugins: [files("commonjs")],
    output: {
      ...written,
      dir: "dist",
      // Node starts these faster than modules: a file is found and read at once, and node:fs comes without its streams.
      format: "cjs",
      cleanDir: true,
      // Every file takes its time to load: what people wait for again and again is in few of them. A group takes what its
      // files import along.
      codeSplitting: {
        groups: [
          { name: "start", test: /\/src\/cli\/program\.ts$/, priority: 2 },
          {
            name: "workflow-check",
            test: /\/src\/(app\/workflow|workflow\/(expression|duration|problems|dot\/(accelerator|kinds))[\w/-]*)\.ts$/,
            priority: 1,
          },
        ],
      },
      banner: (chunk) => (chunk.name === "ratchet" && chunk.isEntry ? "#!/usr/bin/env node" : ""),
    },
  },
  {
    // Loaded by Pi, which takes modules.
    ...common,
    input: { "pi-guard": "src/agents/pi/guard.ts" },
    plugins: [files("module")],
    output: { ...written, dir: "dist/pi", format: "esm" },
  },
]);
