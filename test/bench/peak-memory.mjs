// Preloaded into a program that is measured: writes its peak of resident memory, in bytes, to the file
// that REPUTE_BENCH_PEAK names, when it ends.
import { readFileSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env.REPUTE_BENCH_PEAK;
if (isMainThread && file) process.on("exit", () => writeFileSync(file, String(peakBytes())));

function peakBytes() {
  // Linux carries the peak of resourceUsage over from the process that started this one.
  try {
    const [, kib] = /^VmHWM:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"));
    return Number(kib) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
