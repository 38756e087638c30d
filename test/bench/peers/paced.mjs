// Knows a limit: sends a request at each interval, as exactly as this machine can, whatever the answers are.
//
//   node test/bench/peers/paced.mjs URL RATE SECONDS
import { setImmediate as turn } from "node:timers/promises";
import { Pool } from "undici";
import { itemAt } from "../items.mjs";

const [url, rate, seconds] = process.argv.slice(2);
const base = new URL(url);
const pool = new Pool(base.origin, { connections: 128 });
const intervalMs = 1000 / Number(rate);
const open = new Set();
let dueAt = performance.now();

for (let n = 0; n < Number(rate) * Number(seconds); n++) {
  while (performance.now() < dueAt) await turn();
  // A late request makes none early.
  dueAt = performance.now() + intervalMs;
  const asked = send(`${base.pathname}/quick-check/${encodeURIComponent(itemAt(n))}`);
  open.add(asked);
  void asked.then(() => open.delete(asked));
}
await Promise.all(open);
await pool.close();

async function send(path) {
  const { body } = await pool.request({ path, method: "GET" });
  await body.dump();
}
