import { once } from "node:events";
import { createAdaptorServer } from "@hono/node-server";
import { codeOf, Refusal } from "../lib/errors.js";
import { createRoutes, type Rooms } from "./routes.js";

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** On this machine alone: whoever wants it reachable from outside puts something in front that says so. */
const address = "127.0.0.1";
/** Whoever sends a request has to come to its end: a webhook is one packet or few. */
const requestMs = 30_000;

export async function listen(
  rooms: Rooms,
  { port, token }: { readonly port: number; readonly token: string },
): Promise<Listening> {
  const server = createAdaptorServer({
    fetch: createRoutes(rooms, token).fetch,
    serverOptions: { requestTimeout: requestMs, headersTimeout: requestMs },
  });
  server.listen(port, address);
  try {
    await once(server, "listening");
  } catch (error) {
    throw refusalOf(error, port);
  }
  const bound = server.address();
  const at = typeof bound === "object" && bound !== null ? bound.port : port;
  return {
    url: `http://${address}:${at}`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      // Connections that are kept open for later requests would keep us.
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}

function refusalOf(error: unknown, port: number): unknown {
  const code = codeOf(error);
  if (code === "EADDRINUSE") {
    return new Refusal(`port ${port} is in use`, { code: "port-in-use", hint: `ratchet serve --port ${port + 1}` });
  }
  if (code === "EACCES") {
    return new Refusal(`port ${port} is not ours to use`, { code: "port-refused", hint: "ratchet serve --port 7311" });
  }
  return error;
}
