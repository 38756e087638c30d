// Enriches a file, as `repute enrich` does.
//
//   node samples/library/file.mjs INPUT OUTPUT          against the embedded service
//   node samples/library/file.mjs INPUT OUTPUT URL      against another one
import { repute } from "repute";

const [input, output, url] = process.argv.slice(2);
if (output === undefined) throw new Error("usage: node file.mjs INPUT OUTPUT [URL]");
const r = repute(url === undefined ? { local: true } : { url, apiKey: process.env.REPUTE_API_KEY });

try {
  const { statuses, verdicts } = await r.enrichFile(input, output, {
    resume: true,
    onNotice: (message) => console.error(message),
  });
  const rows = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  console.log(`${rows} rows, ${statuses.failed} failed, ${verdicts.malicious} malicious`);
} finally {
  await r.close();
}
