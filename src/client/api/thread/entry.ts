import { parentPort } from "node:worker_threads";
import { createDispatcher } from "../http/dispatcher.js";
import { Transport } from "../http/transport.js";
import { ThreadService, type ArrivalsMessage, type Orders, type ThreadStart } from "./service.js";

const port = parentPort;
if (port === null) throw new Error("this module runs on a worker thread");

port.once("message", ({ connections, ...start }: ThreadStart) => {
  const dispatcher = createDispatcher(start.baseUrl, { connections });
  const service = new ThreadService({
    requests: new Transport({ ...start, dispatcher }),
    connections,
    post: ({ bodies, ...others }) => {
      const message: ArrivalsMessage = { text: JSON.stringify(others), bodies };
      port.postMessage(message, [bodies.buffer]);
    },
  });
  port.on("message", (orders: string) => service.take(JSON.parse(orders) as Orders));
});
