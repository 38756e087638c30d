import { parentPort, workerData } from "node:worker_threads";
import { createDispatcher } from "../dispatcher.js";
import { Transport } from "../transport.js";
import { ArrivalLog } from "./arrival-log.js";
import { ThreadService } from "./service.js";
import type { Orders, ThreadStart } from "./messages.js";

const port = parentPort;
if (port === null) throw new Error("this module is the start of a thread");

const { connections, arrivals, ...start } = workerData as ThreadStart;
const dispatcher = createDispatcher(start.baseUrl, { connections });
const service = new ThreadService({
  requests: new Transport({ ...start, dispatcher }),
  connections,
  log: arrivals === undefined ? null : new ArrivalLog(arrivals),
  post: (arrivals) => port.postMessage(arrivals, [arrivals.answers]),
});
port.on("message", (orders: Orders) => service.take(orders));
