// Two runs at once that share one pace: together they send at most 50 requests a second. Lookups
// and runs of one client share its pace anyway; a second client gets it as an option.
//
//   node samples/library/shared-pace.mjs FOLDER         against the embedded service
//   node samples/library/shared-pace.mjs FOLDER URL     against another one
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { repute } from "repute";

const [folder, url] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node shared-pace.mjs FOLDER [URL]");
const service = url === undefined ? { local: true } : { url, apiKey: process.env.REPUTE_API_KEY };
const full = repute({ ...service, rate: "50/s" });
const quick = repute({ ...service, lookups: "quick-check", pace: await full.pace() });

const samples = fileURLToPath(new URL("..", import.meta.url));
const start = performance.now();
const manifests = await Promise.all([
  full.enrichFile(join(samples, "indicators.csv"), join(folder, "indicators.csv")),
  quick.enrichFile(join(samples, "watchlist.txt"), join(folder, "watchlist.csv")),
]);
const seconds = (performance.now() - start) / 1000;

const requests = manifests
  .flatMap((manifest) => Object.values(manifest.requests))
  .reduce((sum, { total }) => sum + total, 0);
console.log(`${requests} requests in ${seconds.toFixed(1)} s`);

await quick.close();
await full.close();
