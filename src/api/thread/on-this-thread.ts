import type { Requests } from "../types.js";
import type { ThreadStart } from "./messages.js";

/** Requests that are made without a thread, and the end of their connections. */
export interface OwnRequests {
  readonly requests: Requests;
  destroy(): Promise<void>;
}

/** What takes a thread's place; loaded when there is need of it. */
export async function onThisThread(start: ThreadStart): Promise<OwnRequests> {
  const [{ createDispatcher }, { Transport }] = await Promise.all([
    import("../http/dispatcher.js"),
    import("../http/transport.js"),
  ]);
  const dispatcher = createDispatcher(start.baseUrl, { connections: start.connections });
  return {
    requests: new Transport({ ...start, dispatcher }),
    destroy: () => dispatcher.destroy(),
  };
}
