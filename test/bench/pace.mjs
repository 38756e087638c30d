// How well the built program keeps a given rate, and how it finds an unknown limit. Runs in real time.
//
//   npm run build && node test/bench/pace.mjs [NAME | RATE…]
//
// A rate (default: 50, 500 and 5000 a second) prints the share of it that was used from the first to the
// last arrival, the most arrivals within any second against the rate, and the processor's share. A name is
// a server that throttles without rate limit headers: it prints accepted requests per second, from second
// 10 on or 15 s after the limit changed, as a share of the limit, and the share of throttled requests.
import { measuredRun } from "./programs.mjs";
import { mostWithin, rounded } from "./statistics.mjs";

const seconds = 10;
const unknown = { args: ["--rate", "10000/s"], server: ["--limit", "150"], limit: 150, from: 10 };
const changed = (later, rows) => ({
  ...unknown,
  server: ["--limit", "150", "--later", String(later), "--after", "25"],
  rows,
  limit: later,
  from: 40,
});
const limits = {
  429: { ...unknown, rows: 150 * 45 },
  503: { ...unknown, server: [...unknown.server, "--status", "503"], rows: 150 * 45 },
  halved: changed(75, 150 * 25 + 75 * 30),
  doubled: changed(300, 150 * 25 + 300 * 30),
  default: { ...unknown, args: [], rows: 100 * 30 },
};

const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : ["50", "500", "5000", ...Object.keys(limits)]) {
  const found = name in limits ? await throttled(limits[name]) : await paced(Number(name));
  console.log(JSON.stringify({ case: name, ...found }));
}

async function paced(rate) {
  const rows = rate * seconds;
  const args = ["--rate", `${rate}/s`, "--concurrency", "128"];
  const { arrivals, usage, statuses } = await measuredRun({ rows, args });
  if (statuses.complete !== rows) throw new Error("rows are missing");
  const ms = arrivals.at(-1) - arrivals[0];
  return {
    used: rounded(((arrivals.length - 1) / ms / rate) * 1000),
    mostInASecond: rounded(mostWithin(arrivals, 1000) / rate),
    cpu: rounded(usage.cpuSeconds / usage.seconds),
  };
}

async function throttled({ server, rows, args, limit, from }) {
  const measured = await measuredRun({ rows, args, server: ["--latency", "40", ...server] });
  const { arrivals, passed, statuses } = measured;
  const bySecond = Array.from({ length: Math.ceil(arrivals.at(-1) / 1000) }, () => 0);
  for (const [n, at] of arrivals.entries()) if (passed[n]) bySecond[Math.floor(at / 1000)]++;
  // Ignore the last second, in which only rows that await a retry are left.
  const counted = bySecond.slice(from, -2);
  return {
    used: rounded(counted.reduce((sum, n) => sum + n, 0) / counted.length / limit),
    throttled: rounded(passed.filter((ok) => !ok).length / passed.length),
    rows: statuses,
    acceptedBySecond: bySecond.join(" "),
  };
}
