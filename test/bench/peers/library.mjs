// The main job through the library, with journal and checkpoints (`kept`) or without (`unkept`).
//
//   node test/bench/peers/library.mjs URL INPUT OUTPUT CONCURRENCY kept|unkept
import { enrich, enrichOptions } from "repute";

const [url, input, output, concurrency, durability] = process.argv.slice(2);
await enrich({
  settings: enrichOptions.parse({
    intelUrl: url,
    lookups: "query",
    rate: "1000000/s",
    concurrency: Number(concurrency),
    output,
  }),
  input: { path: input },
  stdout: process.stdout,
  apiKey: null,
  command: [],
  signal: new AbortController().signal,
  durable: durability === "kept",
});
