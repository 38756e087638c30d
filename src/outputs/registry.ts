import { csvEncoder } from "../formats/csv/csv-encoder.js";
import { ndjsonEncoder } from "../formats/ndjson/ndjson-encoder.js";
import { ecsEncoder } from "../formats/shapes/ecs-encoder.js";
import { ocsfEncoder } from "../formats/shapes/ocsf-encoder.js";
import { stixEncoder } from "../formats/shapes/stix-encoder.js";
import type { Encoder, EncoderOptions, SinkFormat } from "./types.js";

/** Every text format that can be written; another one is one file and one line here. */
export const encoders = {
  csv: (options) => csvEncoder(",", options),
  tsv: (options) => csvEncoder("\t", options),
  ndjson: ndjsonEncoder,
  ecs: ecsEncoder,
  ocsf: ocsfEncoder,
  stix: stixEncoder,
} satisfies Record<SinkFormat, (options: EncoderOptions) => Encoder>;

/** Whether rows in a format have the results as received. */
export function keepsReceived(
  format: SinkFormat,
  { shape }: Pick<EncoderOptions, "shape">,
): boolean {
  return format === "ndjson" ? shape === "nested" : format === "ecs" || format === "ocsf";
}

const extensions: Readonly<Record<string, SinkFormat>> = {
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  ndjson: "ndjson",
  jsonl: "ndjson",
  json: "ndjson",
};

/** Format and compression that a path's name asks for; format null where it says nothing. */
export function detectSinkFormat(path: string): { format: SinkFormat | null; gzip: boolean } {
  const name = path.toLowerCase();
  const gzip = name.endsWith(".gz");
  const bare = gzip ? name.slice(0, -3) : name;
  return { format: extensions[bare.slice(bare.lastIndexOf(".") + 1)] ?? null, gzip };
}
