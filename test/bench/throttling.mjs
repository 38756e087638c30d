// How the built program finds an unknown limit: a server in a separate process with a token bucket
// and without rate limit headers, which answers 429 (or 503 without an envelope) beyond the limit.
// Runs in real time.
//
//   npm run build && node test/bench/throttling.mjs [NAME…]
//
// Prints per case: accepted requests per second from second 10 on (or from 15 s after the limit
// changed) as a share of the limit, the share of throttled requests, and rows by status.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressLines } from "./items.mjs";
import { rounded } from "./statistics.mjs";
import { enrich, enrichedRows, startServer } from "./programs.mjs";

const unknown = ["--rate", "10000/s"];
const cases = {
  429: { server: ["--limit", "150"], rows: 150 * 45, args: unknown, limit: 150, from: 10 },
  503: {
    server: ["--limit", "150", "--status", "503"],
    rows: 150 * 45,
    args: unknown,
    limit: 150,
    from: 10,
  },
  halved: {
    server: ["--limit", "150", "--later", "75", "--after", "25"],
    rows: 150 * 25 + 75 * 30,
    args: unknown,
    limit: 75,
    from: 40,
  },
  doubled: {
    server: ["--limit", "150", "--later", "300", "--after", "25"],
    rows: 150 * 25 + 300 * 30,
    args: unknown,
    limit: 300,
    from: 40,
  },
  default: { server: ["--limit", "150"], rows: 100 * 30, args: [], limit: 150, from: 10 },
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(cases);
for (const name of names) {
  console.log(JSON.stringify({ case: name, ...(await measure(cases[name])) }));
}

async function measure({ server: serverArgs, rows, args, limit, from }) {
  const folder = await mkdtemp(join(tmpdir(), "repute-throttling-"));
  try {
    await writeFile(join(folder, "in.txt"), addressLines(rows));
    const server = await startServer(folder, ["--latency", "40", ...serverArgs]);
    const asked = ["--lookups", "quick-check", ...args];
    await enrich(folder, server.url, asked).catch((error) => server.abandon(error));
    const { arrivals, passed } = await server.stop();
    // Ignore the last second, in which only rows that await a retry are left.
    const to = Math.floor(arrivals.at(-1) / 1000) - 1;
    const accepted = arrivals.filter(
      (at, n) => passed[n] && at >= from * 1000 && at < to * 1000,
    ).length;
    return {
      seconds: Math.round(arrivals.at(-1) / 100) / 10,
      used: rounded(accepted / (to - from) / limit),
      throttled: rounded(passed.filter((ok) => !ok).length / passed.length),
      rows: await enrichedRows(folder),
      acceptedBySecond: bySecond(arrivals, passed).join(" "),
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function bySecond(arrivals, passed) {
  const counts = Array.from({ length: Math.ceil(arrivals.at(-1) / 1000) }, () => 0);
  for (const [n, at] of arrivals.entries()) if (passed[n]) counts[Math.floor(at / 1000)]++;
  return counts;
}
