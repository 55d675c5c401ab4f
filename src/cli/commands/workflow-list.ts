import { relative } from "node:path";
import type { Context } from "../context.js";

export async function listWorkflows(context: Context, { json }: { readonly json?: boolean }): Promise<number> {
  const { app, out, cwd } = context;
  const found = (await app.workflows()).list();
  if (json) out.json(found);
  else if (found.length === 0) out.line("no workflow has a name here");
  const longest = Math.max(0, ...found.map(({ name }) => name.length));
  for (const { name, file, from } of json ? [] : found) {
    const place = relative(cwd, file);
    const where = from === "shipped" ? "comes with Ratchet" : place.startsWith("..") ? file : place;
    out.line(`${name.padEnd(longest)}  ${where}`);
  }
  return 0;
}
