// What a good engineer writes in an hour: streams rows in order with bounded memory, a fixed number
// of open requests and retries. No journal, no checks, no resume.
//
//   node test/bench/peers/script.mjs URL INPUT OUTPUT CONCURRENCY
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { stringify } from "csv-stringify";
import pLimit from "p-limit";

const [url, input, output, concurrency] = process.argv.slice(2);
const limit = pLimit(Number(concurrency));

await pipeline(
  createReadStream(input),
  parse({ columns: true, bom: true }),
  enriched,
  stringify({ header: true }),
  createWriteStream(output),
);

/** Rows in input order, with a window of pending lookups. */
async function* enriched(rows) {
  const underWay = [];
  for await (const row of rows) {
    underWay.push(limit(enrich, row));
    if (underWay.length >= 1000) yield await underWay.shift();
  }
  for (const row of underWay) yield await row;
}

async function enrich(row) {
  try {
    const { result } = await ask(row.ip);
    return { ...row, status: "complete", ...columnsOf(result), error: "" };
  } catch (error) {
    return { ...row, status: "failed", ...columnsOf({}), error: error.message };
  }
}

async function ask(item, attempt = 1) {
  const response = await fetch(`${url}/query/${encodeURIComponent(item)}`);
  if (response.ok) return response.json();
  await response.body?.cancel();
  if (response.status < 500 || attempt === 5) throw new Error(`HTTP ${response.status}`);
  await new Promise((resolve) => setTimeout(resolve, 250 * 2 ** attempt));
  return ask(item, attempt + 1);
}

function columnsOf(result) {
  const { abuseContact, asn, observedActivity } = result;
  return {
    type: result.type,
    mail_blocklist: result.serviceMailBlocklist,
    bogon: result.bogon,
    intent: result.intent,
    tags: result.tags?.join("|"),
    first_seen: result.firstSeen,
    last_seen: result.lastSeen,
    reverse_dns: result.reverseDns?.current?.map(({ entry }) => entry).join("|"),
    abuse_email: abuseContact?.email,
    abuse_status: abuseContact?.status,
    abuse_verified_at: abuseContact?.lastVerification,
    asn: asn?.asn,
    as_name: asn?.name,
    as_country: asn?.countryCode,
    honeypot_observations: observedActivity?.honeypotInteractions?.observations?.length,
    spamtrap_observations: observedActivity?.spamtrapInteractions?.observations?.length,
  };
}
