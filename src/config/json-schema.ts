import * as z from "zod";
import { configSchema } from "./schema/root.js";

/** The configuration file as a JSON Schema, for editors. */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(configSchema, { io: "input" });
  return { ...schema, title: "ratchet.yaml", description: "The configuration of Ratchet." };
}
