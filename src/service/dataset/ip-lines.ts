import ipaddr from "ipaddr.js";

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const tab = 0x09;
const hash = 0x23;
const dot = 0x2e;
const zero = 0x30;

/** A typed array that grows. */
export class Words<A extends Uint32Array | Uint16Array> {
  readonly #kind: new (length: number) => A;
  #words: A;
  #length = 0;

  constructor(kind: new (length: number) => A) {
    this.#kind = kind;
    this.#words = new kind(64);
  }

  push(word: number): void {
    if (this.#length === this.#words.length) {
      const larger = new this.#kind(this.#length * 2);
      larger.set(this.#words);
      this.#words = larger;
    }
    this.#words[this.#length] = word;
    this.#length += 1;
  }

  /** The words pushed, in an array of just their length. */
  taken(): A {
    return this.#words.slice(0, this.#length) as A;
  }
}

/**
 * Reads one address a line into words: one of 32 bits for IPv4, eight of 16 bits for IPv6. It works
 * on the bytes, because a list may have millions of lines.
 *
 * @returns the first line that is no address, or null
 */
export function readIpLines(
  bytes: Uint8Array,
  v4: Words<Uint32Array>,
  v6: Words<Uint16Array>,
): { readonly line: number; readonly text: string } | null {
  let line = 0;
  for (let at = 0; at < bytes.length;) {
    line += 1;
    let end = bytes.indexOf(newline, at);
    if (end === -1) end = bytes.length;
    const [from, to] = trimmed(bytes, at, end);
    at = end + 1;
    if (from === to || bytes[from] === hash) continue;
    const address = ipv4At(bytes, from, to);
    if (address !== -1) {
      v4.push(address);
      continue;
    }
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString();
    const words = ipv6Words(text);
    if (words === null) return { line, text };
    for (const word of words) v6.push(word);
  }
  return null;
}

function trimmed(bytes: Uint8Array, start: number, end: number): readonly [number, number] {
  let from = start;
  let to = end;
  while (from < to && isBlank(bytes[from])) from += 1;
  while (to > from && isBlank(bytes[to - 1])) to -= 1;
  return [from, to];
}

function isBlank(byte: number | undefined): boolean {
  return byte === space || byte === carriageReturn || byte === tab;
}

/** The address as 32 bits, or -1 where the bytes are no dotted quad (leading zeros are none). */
function ipv4At(bytes: Uint8Array, from: number, to: number): number {
  let address = 0;
  let octet = -1;
  let octets = 0;
  for (let at = from; at <= to; at += 1) {
    const byte = at < to ? (bytes[at] as number) : dot;
    if (byte === dot) {
      if (octet === -1 || octets === 4) return -1;
      address = address * 256 + octet;
      octets += 1;
      octet = -1;
      continue;
    }
    const digit = byte - zero;
    if (digit < 0 || digit > 9 || octet === 0) return -1;
    octet = octet === -1 ? digit : octet * 10 + digit;
    if (octet > 255) return -1;
  }
  return octets === 4 ? address : -1;
}

function ipv6Words(text: string): readonly number[] | null {
  if (text.includes("%") || !ipaddr.IPv6.isValid(text)) return null;
  return ipaddr.IPv6.parse(text).parts;
}
