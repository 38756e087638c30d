import { parentPort } from "node:worker_threads";
import { createDispatcher } from "../http/dispatcher.js";
import { Transport } from "../http/transport.js";
import { ArrivalLog } from "./arrival-log.js";
import { ThreadService } from "./service.js";
import type { Orders, ThreadStart } from "./messages.js";

const port = parentPort;
if (port === null) throw new Error("this module is the start of a thread");

port.once("message", ({ connections, arrivals, ...start }: ThreadStart) => {
  const dispatcher = createDispatcher(start.baseUrl, { connections });
  const service = new ThreadService({
    requests: new Transport({ ...start, dispatcher }),
    connections,
    log: arrivals === undefined ? null : new ArrivalLog(arrivals),
    post: (arrived) => port.postMessage(arrived, [arrived.answers]),
  });
  port.on("message", (orders: Orders) => service.take(orders));
});
