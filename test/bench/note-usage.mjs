// Preload with `node --import`: records the resources the program used and, if it serves HTTP, when
// requests arrived. Writes them at exit to the file named by NOTE_USAGE.
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

/**
 * How long the main thread was runnable without a processor; null if the system does not report it.
 */
function waitedForCpu() {
  try {
    return Number(readFileSync("/proc/self/schedstat", "latin1").split(" ")[1]) / 1e9;
  } catch {
    return null;
  }
}
