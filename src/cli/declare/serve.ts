import type { Command } from "commander";
import type { Choose } from "../context.js";
import { withExample } from "./example.js";

export function declareServe(program: Command, choose: Choose): void {
  const serve = program
    .command("serve")
    .description("take webhooks and answer over HTTP on this machine, and follow the pull requests meanwhile")
    .option("--port <n>", "where to listen, on 127.0.0.1; 0: any free one", "7311");
  withExample(serve, "ratchet serve --port 8080").action((options: { readonly port: string }) =>
    choose(async (context) => (await import("../commands/serve.js")).serve(context, options)),
  );
}
