import type { Dispatcher } from "undici";
import { createDispatcher } from "../../src/api/http/dispatcher.js";
import { RequestThread } from "../../src/api/thread/request-thread.js";

/** Opens one connection at a time to a service. */
export type Connect = (baseUrl: string) => Dispatcher | RequestThread;

/** What a thread begins with is read by Node.js itself: from the built program. */
const entry = new URL("../../dist/api/thread/entry.js", import.meta.url);

/** Both ways in which requests are made; whatever is asked, they bring the same. */
export const ways: readonly (readonly [name: string, connect: Connect])[] = [
  ["on the caller's thread", (baseUrl) => createDispatcher(baseUrl, { connections: 1 })],
  ["on a thread of its own", () => new RequestThread(1, { entry })],
];
