import { writeCsv, writeNdjson, writeText } from "./address-lines.js";
import { writeCidr } from "./cidr.js";
import { writeIpset, writeNft } from "./firewalls.js";
import { writeParquet } from "./parquet.js";
import type { TagFormat, TagFormatWriter } from "./types.js";

/** Every format of a tag's list; another one is a file, a line here and a word in `tagFormats`. */
export const tagFormatWriters = {
  txt: writeText,
  csv: writeCsv,
  ndjson: writeNdjson,
  cidr: writeCidr,
  nft: writeNft,
  ipset: writeIpset,
  parquet: writeParquet,
} satisfies Record<TagFormat, TagFormatWriter>;
