import { IntelClient } from "../../../dist/client/api/intel-client.js";
import { createDispatcher } from "../../../dist/client/api/http/dispatcher.js";
import { openWithheld } from "../../../dist/client/lookup/withheld.js";
import { systemClock as clock } from "../../../dist/core/clock.js";
import { exportTags } from "../../../dist/jobs/tags/export-tags.js";

/** Exports tags with the built library, again and again. */
const { url, folder, names, rounds } = JSON.parse(process.argv[2]);
const dispatcher = createDispatcher(url, { connections: 4 });
const client = new IntelClient({ baseUrl: url, dispatcher, clock });
const withheld = await openWithheld({ bogons: "ask" });
for (let round = 0; round < rounds; round++) {
  // One after the other: the server changes the lists with the first.
  const report = await exportTags({ client, names, folder, withheld, clock, parallel: 1 });
  if (report.failed > 0) throw new Error(JSON.stringify(report.tags));
}
await dispatcher.close();
