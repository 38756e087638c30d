// Looks up a stream of items: one result per item, in input order, 32 lookups at once.
//
//   node samples/library/stream.mjs < samples/watchlist.txt
//   node samples/library/stream.mjs URL < ITEMS
import { createInterface } from "node:readline";
import { repute } from "repute";

const [url] = process.argv.slice(2);
const r = repute(url === undefined ? { local: true } : { url, apiKey: process.env.REPUTE_API_KEY });

const known = [];
for await (const result of r.lookupAll(itemsIn(createInterface({ input: process.stdin })))) {
  console.log(`${result.input}: ${result.verdict ?? result.status}`);
  if (result.verdict === "malicious" || result.verdict === "suspicious") known.push(result);
}
console.log(`${known.length} are malicious or suspicious`);

await r.close();

/** One item per line; blank lines and comments are skipped. */
async function* itemsIn(lines) {
  for await (const line of lines) {
    if (line.trim() !== "" && !line.startsWith("#")) yield line;
  }
}
