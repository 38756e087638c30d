import { writeCidr } from "./cidr.js";
import { writeCsv } from "./csv.js";
import { writeIpset } from "./ipset.js";
import { writeNdjson } from "./ndjson.js";
import { writeNft } from "./nft.js";
import { writeParquet } from "./parquet.js";
import { writeText } from "./text.js";
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
