import { z } from "zod";
import { option, wholeNumber } from "../../core/options.js";
import { isRedisAddress, redisAddress } from "../../store/redis/redis-address.js";
import { sinkFormats } from "../../formats/registry.js";
import type { ChunkFormat } from "./work-plan.js";

/** A bundle needs all rows at once; anything else can be joined. */
const chunkFormats = [
  ...sinkFormats.filter((format) => format !== "stix"),
  "parquet",
] as readonly ChunkFormat[];

/** A number of processes, or the address of a queue. */
function workers(): z.ZodType<number | string> {
  return z.union([z.number(), z.string()]).transform((value, context) => {
    const isAddress = typeof value === "string" && isRedisAddress(value);
    const checked = (isAddress ? redisAddress() : wholeNumber(1, 256)).safeParse(value);
    if (checked.success) return checked.data;
    for (const { message } of checked.error.issues) context.addIssue({ code: "custom", message });
    return z.NEVER;
  });
}

/** Options that divide a run. */
export const chunkOptions = z.strictObject({
  chunk: option(wholeNumber(0).optional(), {
    description:
      "Process only this chunk of a folder made by repute split. The input is then that folder, and repute merge writes the output",
    value: "N",
  }),
  workers: option(workers().optional(), {
    description:
      "Spread the run over N processes of this machine, under one rate; or, with redis://HOST[:PORT]/DB, over the repute worker processes of any machines. The output is the same",
    value: "N|URL",
  }),
  work: option(z.string().min(1).optional(), {
    description:
      "With --workers redis://: folder for the plan and the results, under the same path on all machines, or s3://BUCKET/KEY. Empty or new; its contents are removed at the end",
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
