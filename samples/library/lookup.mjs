// Looks up one item.
//
//   node samples/library/lookup.mjs                 against the embedded service
//   node samples/library/lookup.mjs URL [ITEM]      against another one
import { repute } from "repute";

const [url, input = "192.0.2[.]1"] = process.argv.slice(2);
const r = repute(url === undefined ? { local: true } : { url, apiKey: process.env.REPUTE_API_KEY });

const result = await r.lookup(input);
if (result.status === "complete" || result.status === "partial") {
  console.log(`${result.kind} ${result.item}: ${result.verdict}`);
  // The type tells the results of different kinds of item apart.
  if (result.query?.type === "IP") console.log(`network: ${result.query.asn?.name ?? "unknown"}`);
} else {
  console.log(`${input}: ${result.status}, ${result.error.message}`);
}

await r.close();
