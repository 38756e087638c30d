import { writeCsv, writeNdjson, writeText } from "./address-lines.js";
import { writeCidr } from "./cidr.js";
import { writeIpset, writeNft } from "./firewalls.js";
import { writeParquet } from "./parquet.js";
import type { TagFormat, TagFormatWriter } from "./types.js";

/** The writer of every format. To add one, write a file and add it here and to `tagFormats`. */
export const tagFormatWriters = {
  txt: writeText,
  csv: writeCsv,
  ndjson: writeNdjson,
  cidr: writeCidr,
  nft: writeNft,
  ipset: writeIpset,
  parquet: writeParquet,
} satisfies Record<TagFormat, TagFormatWriter>;
