import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { type AddressList, addressTexts, v4Text } from "./address-list.js";
import { v6Text } from "../../core/item/ip.js";
import type { ExportedTag, tagFormats } from "./export-folder.js";
import { csvPieces } from "../../io/formats/csv/csv-output.js";
import { inBlocks } from "../../io/output/text/write-lines.js";

type TagFormat = (typeof tagFormats)[number];

/** Metadata of a list that a file may include. Nothing in it changes as long as the list does not. */
interface ListMetadata {
  readonly tag: string;
  readonly sets: ExportedTag["sets"];
}

/**
 * The writer of every format: yields the text of a file in small parts, so that memory does not grow
 * with the list. To add one, write it here and add it to `tagFormats`.
 */
export const tagFormatWriters: Readonly<
  Record<TagFormat, (list: AddressList, metadata: ListMetadata) => Iterable<string>>
> = {
  *txt(list) {
    for (const [, texts] of addressTexts(list)) for (const ip of texts) yield `${ip}\n`;
  },

  /** RFC 4180, but with LF line endings, one row per address; `family` is 4 or 6. */
  *csv(list, { tag }) {
    yield "ip,family,tag\n";
    const rest = [...csvPieces(",", [[tag]])].join("");
    for (const [family, texts] of addressTexts(list)) {
      for (const ip of texts) yield `${ip},${family},${rest}`;
    }
  },

  /** One JSON object per address, with the members of the CSV columns. */
  *ndjson(list, { tag }) {
    for (const [family, texts] of addressTexts(list)) {
      for (const ip of texts) yield `${JSON.stringify({ ip, family, tag })}\n`;
    }
  },

  /**
   * The fewest CIDR blocks (RFC 4632) that cover exactly the addresses of the list, one per line.
   *
   * Splits each run of consecutive addresses, from its lower end, into the largest aligned blocks
   * that fit. This is minimal, since no block can span two runs.
   */
  *cidr({ v4, v6 }) {
    for (const [first, bits] of blocks(v4)) yield `${v4Text(Number(first))}/${32 - bits}\n`;
    for (const [first, bits] of blocks(v6)) yield `${v6Text(BigInt(first))}/${128 - bits}\n`;
  },

  /**
   * Two sets for nftables, one per family, which `nft -f` creates or refills in one transaction:
   * rules that use them never see half a list. Both always exist, so that such rules load.
   *
   * The sets hold single addresses rather than intervals; nftables looks them up by hash. There is one
   * command per family, since the cost of nft grows with commands, not with elements.
   */
  *nft(list, { sets: { ipv4, ipv6 } }) {
    yield `#!/usr/sbin/nft -f\nadd table ${table}\n`;
    yield `add set ${table} ${ipv4} { type ipv4_addr; }\nadd set ${table} ${ipv6} { type ipv6_addr; }\n`;
    yield `flush set ${table} ${ipv4}\nflush set ${table} ${ipv6}\n`;
    for (const [family, texts] of addressTexts(list)) {
      // Empty braces are a syntax error.
      if (list[`v${family}`].length === 0) continue;
      yield `add element ${table} ${family === 4 ? ipv4 : ipv6} {\n`;
      for (const ip of texts) yield `\t${ip},\n`;
      yield "}\n";
    }
  },

  /**
   * Two sets for `ipset restore`, one per family. Each is filled beside the set in use and then
   * swapped with it, so that rules never see half a list, and loading the file again replaces the
   * addresses.
   */
  *ipset(list, { sets }) {
    for (const [family, texts] of addressTexts(list)) {
      const set = sets[`ipv${family}`];
      const type = `hash:ip family ${family === 4 ? "inet" : "inet6"} ${limits}`;
      yield `create ${set} ${type}\ncreate ${set}_n ${type}\nflush ${set}_n\n`;
      for (const ip of texts) {
        // A hash:ip set cannot store an all-zero address (ipset(8)).
        if (ip !== "0.0.0.0" && ip !== "::") yield `add ${set}_n ${ip}\n`;
      }
      yield `swap ${set}_n ${set}\ndestroy ${set}_n\n`;
    }
  },
};

/** Table of all sets of nftables. Rules that use them belong in a table of the same name. */
const table = "inet repute";

/**
 * `create -exist` requires the limits of an existing set to be equal, so `maxelem` is its maximum
 * instead of the length of the list. It costs no memory.
 */
const limits = "hashsize 1024 maxelem 4294967295 -exist";

function* blocks(addresses: Addresses): Generator<[first: number | bigint, bits: number]> {
  for (let at = 0; at < addresses.length;) {
    let bits = 0;
    while (isBlock(addresses, at, bits + 1)) bits++;
    yield [addresses[at]!, bits];
    at += 2 ** bits;
  }
}

type Addresses = ArrayLike<number | bigint>;

/** Whether the next `2 ** bits` addresses of an ascending list are an aligned block. */
function isBlock(addresses: Addresses, at: number, bits: number): boolean {
  const [first, size] = [BigInt(addresses[at]!), 2 ** bits];
  const last = addresses[at + size - 1];
  if (last === undefined || first % BigInt(size) !== 0n) return false;
  return BigInt(last) === first + BigInt(size - 1);
}

/**
 * Writes a list in several formats.
 *
 * @param base path of the files, without their endings
 */
export async function writeFormats(
  base: string,
  list: AddressList,
  metadata: ListMetadata,
  formats: readonly TagFormat[] = ["txt"],
): Promise<ExportedTag["files"]> {
  const files: ExportedTag["files"] = [];
  for (const format of formats) {
    const texts = tagFormatWriters[format](list, metadata);
    files.push({ format, ...(await writeNew(`${base}.${format}`, texts)) });
  }
  return files;
}

/** Writes a new file piece by piece. Durable once resolved. */
async function writeNew(path: string, texts: Iterable<string>) {
  const hash = createHash("sha256");
  let bytes = 0;
  function* pieces(): Generator<Buffer> {
    for (const block of inBlocks(texts)) {
      const piece = Buffer.from(block);
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  await writeFile(path, pieces(), { flag: "wx", flush: true });
  return { file: basename(path), bytes, sha256: hash.digest("hex") };
}

/** ipset names have at most 31 characters (ipset(8)); `_v4_n` is the longest suffix added. */
const maxSetName = 26;

/**
 * Names of a tag's sets in a firewall. Uses the stem of its files if nftables and ipset accept it:
 * letters, digits, `.`, `_` and `-`, starting with a letter, and short enough.
 */
export function setNames(tag: string, stem: string): ListMetadata["sets"] {
  const digest = createHash("sha256").update(tag).digest("hex").slice(0, 8);
  const plain = stem.replaceAll(/%[0-9A-F]{2}/g, "_").replace(/^[^A-Za-z]/, "t$&");
  const name =
    plain === stem && stem.length <= maxSetName
      ? stem
      : `${plain.slice(0, maxSetName - digest.length - 1)}-${digest}`;
  return { ipv4: `${name}_v4`, ipv6: `${name}_v6` };
}
