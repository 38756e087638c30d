import { z } from "zod";
import { option, wholeNumber } from "../../core/options.js";
import { sinkFormats } from "../../formats/registry.js";
import type { ChunkFormat } from "./work-plan.js";

/** A bundle needs all rows at once; anything else can be joined. */
const chunkFormats = [
  ...sinkFormats.filter((format) => format !== "stix"),
  "parquet",
] as readonly ChunkFormat[];

/** Options that divide a run. */
export const chunkOptions = z.strictObject({
  chunk: option(wholeNumber(0).optional(), {
    description:
      "Do only this chunk of a folder made by repute split. The input is then that folder, and repute merge writes the output",
    value: "N",
  }),
  workers: option(wholeNumber(1, 256).optional(), {
    description:
      "Spread the run over N processes of this machine, under one rate. The output is the same",
    value: "N",
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
