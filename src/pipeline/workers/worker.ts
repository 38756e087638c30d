import type { Order } from "./messages.js";
import { serveWorker } from "./serve-worker.js";

// The terminal sends its signals to all processes of the run; the parent decides what to do.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1"]) {
  process.on(name, () => undefined);
}
// The parent is gone: what is done so far is on disk.
process.on("disconnect", () => process.exit(1));

serveWorker({
  post(report) {
    // A parent that is gone needs no report; `disconnect` follows.
    if (process.connected) process.send?.(report, undefined, undefined, () => undefined);
  },
  onOrder: (receive) => void process.on("message", (order) => receive(order as Order)),
});
