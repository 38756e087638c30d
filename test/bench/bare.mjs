// The least that a program can do: undici's Pool.request and body.json(), nothing around it.
//
//   node test/bench/bare.mjs URL REQUESTS CONNECTIONS
import { Pool } from "undici";

const [url, requests, connections] = process.argv.slice(2);
const total = Number(requests);
const base = new URL(url);
const pool = new Pool(base.origin, { connections: Number(connections) });
let next = 0;

async function worker() {
  while (next < total) {
    const n = next++;
    const item = `${(n >> 24) & 255}.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
    const { body } = await pool.request({ path: `${base.pathname}/query/${item}`, method: "GET" });
    await body.json();
  }
}

const begun = performance.now();
await Promise.all(Array.from({ length: Number(connections) }, worker));
const seconds = (performance.now() - begun) / 1000;
console.log(JSON.stringify({ requests: total, seconds, perSecond: Math.round(total / seconds) }));
await pool.close();
