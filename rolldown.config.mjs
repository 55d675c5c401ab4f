import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "rolldown";

const { version } = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8"));

/** Says how Node is to read the files beside it. */
const files = (type) => ({
  name: "type-of-files",
  generateBundle() {
    this.emitFile({ type: "asset", fileName: "package.json", source: `${JSON.stringify({ type })}\n` });
  },
});

/** What of others is in the files, with the words that their licences ask to be kept: whoever installs us installs none of it. */
const licences = {
  name: "licences",
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
    const folders = new Set(modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []));
    const source = [...folders].sort().map(licenceOf).join("\n");
    this.emitFile({ type: "asset", fileName: "licences.txt", source });
  },
};

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const words = file ? readFileSync(join(folder, file), "utf8").trim() : "";
  return `${name} ${version} (${license})\n\n${words}\n`;
}

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
      // Loaded by the one above, by its name.
      program: "src/cli/program.ts",
      scripted: "src/agents/scripted/program.ts",
      cerberus: "src/reviewers/cerberus/program.ts",
      hook: "src/hook/program.ts",
      acp: "src/agents/acp/program.ts",
      "responses-agent": "src/agents/responses/program.ts",
      conformance: "src/cli/conformance/main.ts",
    },
    plugins: [files("commonjs"), licences],
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
