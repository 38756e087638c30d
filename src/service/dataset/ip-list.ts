import ipaddr from "ipaddr.js";
import { readIpLines, Words } from "./ip-lines.js";

/** A line that is no IP address. */
export interface IpListFault {
  /** Which of the texts, from 0. */
  readonly source: number;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

/**
 * A list of distinct IP addresses that never changes: IPv4 first, then IPv6, each in the order of
 * its source. It holds 4 bytes an IPv4 address and 16 an IPv6 address, so that a list of millions
 * fits into memory.
 */
export class IpList {
  readonly #v4: Uint32Array;
  readonly #v6: Uint16Array;

  private constructor(v4: Uint32Array, v6: Uint16Array) {
    this.#v4 = v4;
    this.#v6 = v6;
  }

  /**
   * Reads texts of one address a line, one text after the other; blank lines and lines that begin
   * with `#` are left out.
   *
   * @returns the list, or the first line that is no address
   */
  static parse(sources: readonly Uint8Array[]): IpList | IpListFault {
    const v4 = new Words(Uint32Array);
    const v6 = new Words(Uint16Array);
    for (const [source, bytes] of sources.entries()) {
      const fault = readIpLines(bytes, v4, v6);
      if (fault) return { source, ...fault };
    }
    return new IpList(withoutRepeats(v4.taken()), withoutRepeatedV6(v6.taken()));
  }

  get size(): number {
    return this.#v4.length + this.#v6.length / 8;
  }

  /** At most `limit` addresses from `offset` on, as text. */
  page(offset: number, limit: number): string[] {
    const end = Math.min(offset + limit, this.size);
    const addresses: string[] = [];
    for (let index = offset; index < end; index += 1) addresses.push(this.#textAt(index));
    return addresses;
  }

  /** The bytes that the list consists of: the same for the same addresses in the same order. */
  bytes(): readonly Uint8Array[] {
    return [this.#v4, this.#v6].map(
      (words) => new Uint8Array(words.buffer, words.byteOffset, words.byteLength),
    );
  }

  #textAt(index: number): string {
    const v4 = this.#v4[index];
    if (v4 !== undefined) {
      return `${v4 >>> 24}.${(v4 >>> 16) & 255}.${(v4 >>> 8) & 255}.${v4 & 255}`;
    }
    const start = (index - this.#v4.length) * 8;
    return new ipaddr.IPv6([...this.#v6.subarray(start, start + 8)]).toRFC5952String();
  }
}

/** Keeps the first of each address. A sorted copy finds the repeated ones, which are few. */
function withoutRepeats(addresses: Uint32Array): Uint32Array {
  const sorted = addresses.slice().sort();
  const repeated = new Set<number>();
  for (let index = 1; index < sorted.length; index += 1) {
    const address = sorted[index] as number;
    if (address === sorted[index - 1]) repeated.add(address);
  }
  if (repeated.size === 0) return addresses;
  const seen = new Set<number>();
  return addresses.filter((address) => {
    if (!repeated.has(address)) return true;
    const first = !seen.has(address);
    seen.add(address);
    return first;
  });
}

function withoutRepeatedV6(words: Uint16Array): Uint16Array {
  const seen = new Set<string>();
  let length = 0;
  for (let start = 0; start < words.length; start += 8) {
    const address = words.subarray(start, start + 8);
    const key = String.fromCharCode(...address);
    if (seen.has(key)) continue;
    seen.add(key);
    words.copyWithin(length, start, start + 8);
    length += 8;
  }
  return words.slice(0, length);
}
