const chunkSize = 256 * 1024;

/**
 * Bytes on their way to a file, with addresses written straight into them: a text per line would
 * cost more than everything else about the line.
 */
export class ByteChunk {
  readonly #bytes: Buffer;
  #length = 0;

  /** @param reserve most bytes written between two looks at `full` */
  constructor(reserve: number) {
    this.#bytes = Buffer.allocUnsafe(chunkSize + reserve);
  }

  /** Time to `take`. */
  get full(): boolean {
    return this.#length >= chunkSize;
  }

  /** What was written since the last time; good until the next write. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    return taken;
  }

  put(bytes: Uint8Array): void {
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** A dotted quad. */
  putV4(address: number): void {
    const bytes = this.#bytes;
    let at = putOctet(bytes, this.#length, address >>> 24);
    bytes[at++] = dot;
    at = putOctet(bytes, at, (address >>> 16) & 255);
    bytes[at++] = dot;
    at = putOctet(bytes, at, (address >>> 8) & 255);
    bytes[at++] = dot;
    this.#length = putOctet(bytes, at, address & 255);
  }

  /** The address at `index` of a list of four words each, as RFC 5952 has it. */
  putV6(words: Uint32Array, index: number): void {
    const from = index * 4;
    const last = words[from + 3]!;
    if (words[from] === 0 && words[from + 1] === 0 && words[from + 2] === 0xffff) {
      this.put(mappedPrefix);
      this.putV4(last);
      return;
    }
    const gap = longestGap(words, from);
    const bytes = this.#bytes;
    let at = this.#length;
    for (let group = 0; group < 8; group++) {
      if (group === gap.from) {
        bytes[at++] = colon;
        if (group === 0) bytes[at++] = colon;
        group = gap.to - 1;
        continue;
      }
      at = putHex(bytes, at, groupAt(words, from, group));
      if (group < 7) bytes[at++] = colon;
    }
    this.#length = at;
  }

  /** A number from 0 to 255 in decimal. */
  putNumber(value: number): void {
    this.#length = putOctet(this.#bytes, this.#length, value);
  }
}

/** Most bytes of an address as text. */
export const longestAddress = 45;

const dot = 0x2e;
const colon = 0x3a;
const mappedPrefix = Buffer.from("::ffff:");
const hexDigits = Buffer.from("0123456789abcdef");

function putOctet(bytes: Buffer, at: number, value: number): number {
  let rest = value;
  if (value >= 100) {
    const hundreds = value >= 200 ? 2 : 1;
    bytes[at++] = 0x30 + hundreds;
    rest -= hundreds * 100;
  }
  if (value >= 10) {
    const tens = Math.trunc(rest / 10);
    bytes[at++] = 0x30 + tens;
    rest -= tens * 10;
  }
  bytes[at++] = 0x30 + rest;
  return at;
}

function putHex(bytes: Buffer, at: number, group: number): number {
  if (group >= 0x1000) bytes[at++] = hexDigits[group >> 12]!;
  if (group >= 0x100) bytes[at++] = hexDigits[(group >> 8) & 15]!;
  if (group >= 0x10) bytes[at++] = hexDigits[(group >> 4) & 15]!;
  bytes[at++] = hexDigits[group & 15]!;
  return at;
}

function groupAt(words: Uint32Array, from: number, group: number): number {
  const word = words[from + (group >> 1)]!;
  return group % 2 === 0 ? word >>> 16 : word & 0xffff;
}

/** The first longest run of at least two groups of zeros (RFC 5952 section 4.2). */
function longestGap(words: Uint32Array, from: number): { from: number; to: number } {
  const longest = { from: -1, to: -1 };
  let length = 1;
  for (let group = 0; group < 8; group++) {
    if (groupAt(words, from, group) !== 0) continue;
    const start = group;
    while (group + 1 < 8 && groupAt(words, from, group + 1) === 0) group++;
    if (group + 1 - start > length) {
      length = group + 1 - start;
      longest.from = start;
      longest.to = group + 1;
    }
  }
  return longest;
}
