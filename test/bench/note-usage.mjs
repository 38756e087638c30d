// Loaded before a program by `node --import`: notes what the program used of the machine, and, where
// it serves HTTP, when requests arrived. Written to the file that NOTE_USAGE names when it ends.
import { subscribe } from "node:diagnostics_channel";
import { readFileSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const begun = performance.now();
const arrivals = [];
subscribe("http.server.request.start", () => void arrivals.push(performance.now()));
const delays = monitorEventLoopDelay({ resolution: 5 });
delays.enable();

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(
    process.env.NOTE_USAGE,
    JSON.stringify({
      seconds: (performance.now() - begun) / 1000,
      cpuSeconds: (user + system) / 1e6,
      waitedForCpuSeconds: waitedForCpu(),
      longestTurnMs: delays.max / 1e6,
      arrivals,
    }),
  );
});

/** How long the main thread was ready and got no processor; null where the system does not say. */
function waitedForCpu() {
  try {
    return Number(readFileSync("/proc/self/schedstat", "latin1").split(" ")[1]) / 1e9;
  } catch {
    return null;
  }
}
