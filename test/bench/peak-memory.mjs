// Preload into a measured program: writes its peak resident memory, in bytes, at exit to the file
// named by REPUTE_BENCH_PEAK.
import { readFileSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env.REPUTE_BENCH_PEAK;
if (isMainThread && file) process.on("exit", () => writeFileSync(file, String(peakBytes())));

function peakBytes() {
  // On Linux, the peak in resourceUsage is inherited from the parent process.
  try {
    const [, kib] = /^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"));
    return Number(kib) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
