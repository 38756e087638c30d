// The least that a program can do: undici's Pool.request and body.json(). Reads no input and
// stores, checks and writes nothing.
//
//   node test/bench/peers/bare.mjs URL ITEMS CONNECTIONS ENDPOINT...
import { Pool } from "undici";
import { itemAt } from "../items.mjs";

const [url, items, connections, ...endpoints] = process.argv.slice(2);
const total = Number(items) * endpoints.length;
const base = new URL(url);
const pool = new Pool(base.origin, { connections: Number(connections) });
let next = 0;

async function worker() {
  while (next < total) {
    const n = next++;
    const endpoint = endpoints[n % endpoints.length];
    const item = encodeURIComponent(itemAt(Math.floor(n / endpoints.length)));
    const path = `${base.pathname}/${endpoint}/${item}`;
    const { body } = await pool.request({ path, method: "GET" });
    await body.json();
  }
}

await Promise.all(Array.from({ length: Number(connections) }, worker));
await pool.close();
