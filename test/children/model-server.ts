import { pathToFileURL } from "node:url";
import { startModelServer } from "../model-server/server.js";

/** A model server that outlives whoever is killed: `model-server <script.mjs> [record.jsonl] [port]`. The script is the module's default export. */
const [scriptFile = "", recordFile = "", port = "0"] = process.argv.slice(2);
const { default: script } = await import(pathToFileURL(scriptFile).href);
const server = await startModelServer({ script, port: Number(port), ...(recordFile === "" ? {} : { recordFile }) });
process.stdout.write(`${server.url}\n`);
