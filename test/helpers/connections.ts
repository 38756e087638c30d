import { createDispatcher } from "../../src/client/api/http/dispatcher.js";
import { requestThread } from "../../src/client/api/thread/request-thread.js";
import type { openConnections } from "../../src/client/session/session.js";

/** Opens one connection at a time to a service. */
export type Connect = (baseUrl: string) => Awaited<ReturnType<typeof openConnections>>;

/** Node.js itself loads a thread's first file, so it must be the built one. */
const entry = new URL("../../dist/client/api/thread/entry.js", import.meta.url);

/** Both transports, which must behave the same. */
export const ways = [
  ["on the caller's thread", (baseUrl) => createDispatcher(baseUrl, { connections: 1 })],
  ["on a thread of its own", () => requestThread(1, undefined, entry)],
] as const satisfies readonly (readonly [name: string, connect: Connect])[];
