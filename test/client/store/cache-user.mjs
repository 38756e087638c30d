// Uses a cache as a run does: gets every key, puts some answers, gets again, closes. Prints the result
// as JSON.
//
//   node cache-user.mjs '{"folder", "keys", "from", "put", "syncEvery"}'
//
// Keys are "query 0" … below `keys`. Each answer contains its number and has a length that depends
// on it. Puts `put` answers starting at `from`, with a sync every `syncEvery` answers.
import { setImmediate as turn } from "node:timers/promises";
import { openCache } from "../../../dist/client/store/cache.js";
import { completeFinding } from "../../helpers/complete-finding.mjs";

const { folder, keys, from, put, syncEvery } = JSON.parse(process.argv[2]);

const warnings = [];
const cache = await openCache({
  folder,
  ttlMs: 86_400_000,
  clock: { now: () => Date.parse(completeFinding.lookedUpAt) },
  onWarning: (message) => warnings.push(message),
});
const before = await look(cache);
for (let n = from; n < from + put; n++) {
  cache.put(`query ${n}`, answer(n));
  if (n % syncEvery === 0) cache.sync();
}
cache.sync();
const after = await look(cache);
cache.close();
process.stdout.write(`${JSON.stringify({ before, after, warnings })}\n`);

async function look(cache) {
  const counts = { found: 0, wrong: 0 };
  for (let n = 0; n < keys; n++) {
    const finding = cache.get(`query ${n}`);
    if (n % 20 === 0) await turn();
    if (finding === null) continue;
    counts.found++;
    const members = (name, value) => (name === "bytes" ? undefined : value);
    if (JSON.stringify(finding, members) !== JSON.stringify(answer(n))) counts.wrong++;
  }
  return counts;
}

function answer(n) {
  // Long answers take several pages.
  const text = "x".repeat(n % 7 === 0 ? 40_000 : 300);
  return { ...completeFinding, answers: { query: { result: { n, text } } } };
}
