import { z } from "zod";
import { option, wholeNumber } from "../../core/options.js";
import { redisAddress } from "../../store/redis/redis-address.js";
import { sinkFormats } from "../../formats/types.js";
import type { ChunkFormat } from "./work-plan.js";

/** A bundle needs all rows at once; anything else can be joined. */
const chunkFormats = [
  ...sinkFormats.filter((format) => format !== "stix"),
  "parquet",
] as readonly ChunkFormat[];

/** The address of a queue. YAML reads a number of workers as a number, which gets the same hint. */
const queueAddress = z
  .union([z.string(), z.number()])
  .transform(String)
  .pipe(
    redisAddress(
      "to use the processors of one machine, start a Redis with redis-server, and for each worker: repute worker redis://127.0.0.1/0",
    ),
  );

/** Options that divide a run. */
export const chunkOptions = z.strictObject({
  chunk: option(wholeNumber(0).optional(), {
    description:
      "Process only this chunk of a folder made by repute split. The input is then that folder, and repute merge writes the output",
    value: "N",
  }),
  workers: option(queueAddress.optional(), {
    description:
      "Spread the run over the repute worker processes of any machines: redis://HOST[:PORT]/DB of their queue, or rediss://. The output is the same",
    value: "URL",
  }),
  work: option(z.string().min(1).optional(), {
    description:
      "With --workers: folder for the plan and the results, under the same path on all machines, or s3://BUCKET/KEY. Empty or new; its contents are removed at the end",
    value: "DIR",
  }),
  rowsPerChunk: option(wholeNumber(1).prefault("100000"), {
    description: "Rows of a chunk; the last one may have fewer",
    value: "N",
  }),
  to: option(z.enum(chunkFormats).optional(), {
    common: true,
    description:
      "Format of the output that merge will write [default ndjson for NDJSON input, else csv]",
    value: "FORMAT",
  }),
});
