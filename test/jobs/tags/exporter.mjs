import { IntelClient } from "../../../dist/client/api/intel-client.js";
import { createDispatcher } from "../../../dist/client/api/http/dispatcher.js";
import { openWithheld } from "../../../dist/client/lookup/withheld.js";
import { systemClock as clock } from "../../../dist/core/clock.js";
import { exportTags } from "../../../dist/jobs/tags/export-tags.js";

/** Exports tags with the built library; prints each progress report on a line. */
const { url, folder, names, rounds = 1, parallel = 1 } = JSON.parse(process.argv[2]);
const dispatcher = createDispatcher(url, { connections: 4 });
const client = new IntelClient({ baseUrl: url, dispatcher, clock });
const withheld = await openWithheld({ bogons: "ask" });
for (let round = 0; round < rounds; round++) {
  const report = await exportTags({
    client,
    names,
    folder,
    withheld,
    clock,
    parallel,
    onProgress: ({ tag, entries }) => process.stdout.write(`${tag} ${entries}\n`),
  });
  if (report.failed > 0) throw new Error(JSON.stringify(report.tags));
}
await dispatcher.close();
