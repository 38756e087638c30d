// Uses repute as a library: looks a few items up and says which of them are known for something.
//
//   node samples/library.mjs            against the embedded service
//   node samples/library.mjs URL        against another one
import {
  createDispatcher,
  composeLookup,
  IntelClient,
  MemoryStore,
  Pace,
  recogniseItem,
  startService,
  systemClock,
} from "repute";

const [address] = process.argv.slice(2);
const service = address === undefined ? await startService() : null;
const baseUrl = address ?? service.intelUrl;
const dispatcher = createDispatcher(baseUrl, { connections: 4 });
const lookup = composeLookup({
  client: new IntelClient({ baseUrl, dispatcher, clock: systemClock }),
  lookups: ["query"],
  concurrency: 4,
  pace: new Pace({ rates: [{ count: 50, perMs: 1000 }], clock: systemClock }),
  retries: 5,
  partialRetries: 2,
  store: new MemoryStore(),
  clock: systemClock,
});
const { signal } = new AbortController();

for (const text of ["192[.]0[.]2[.]1", "hxxps://example[.]com", "setup.exe", "203.0.113.51"]) {
  const { item, reason } = recogniseItem(text);
  if (item === null) {
    console.log(`${text}: ${reason.message}`);
    continue;
  }
  const { status, answers, missing } = await lookup(item, { signal });
  const said = answers.query?.result.intent;
  const intent = typeof said === "string" ? said : "no intent";
  const gaps = missing.length > 0 ? `, without ${missing.join(", ")}` : "";
  console.log(`${item.kind} ${item.value}: ${status}${gaps}, ${intent}`);
}

await dispatcher.close();
await service?.close();
