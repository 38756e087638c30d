import { itemCodes } from "../row-codes.js";
import type { Item } from "../item/item.js";
import { reverseEnds } from "../item/hostname.js";
import { hostOf, isPrefixLength } from "../item/url.js";
import { isIPv4 } from "node:net";
import { embeddedIpv4, readIpv6, v4Number, v6Number, v6Text } from "../item/ip.js";

export function excludedMessage(path: string): string {
  return `${itemCodes.excluded[0]}: ${path}`;
}

/** A list of what must not leave: matches items in their normal form. */
export class ExclusionList {
  readonly path: string;
  readonly sha256: string;
  entries = 0;
  sample: string | null = null;
  readonly ranges = new AddressRanges();
  /** Domains with all below them: lower case, with A-labels. */
  readonly domains = new Set<string>();
  /** Domains of e-mail addresses, without those below them. */
  readonly mailDomains = new Set<string>();
  /** Items, and host names that stand for themselves alone. In lower case. */
  readonly #singles = new Set<string>();
  readonly #parts: string[] = [];

  /**
   * @param path as given
   * @param sha256 of the file
   */
  constructor(path: string, sha256: string) {
    this.path = path;
    this.sha256 = sha256;
  }

  note(text: string): void {
    this.entries++;
    this.sample ??= text;
  }

  addSingle(value: string): void {
    this.#singles.add(singleOf(value));
  }

  addPart(text: string): void {
    this.#parts.push(text.toLowerCase());
  }

  /** Whether an item is on the list: a URL with its host, an e-mail address with its domain. */
  has(item: Item): boolean {
    const { kind, value } = item;
    if (this.#singles.size > 0 && this.#singles.has(singleOf(value))) return true;
    if (this.#parts.length > 0) {
      const text = value.toLowerCase();
      if (this.#parts.some((part) => text.includes(part))) return true;
    }
    const host = hostOf(item);
    if (host === null) return false;
    return (
      (kind === "email" && this.mailDomains.has(host)) ||
      this.#singles.has(host) ||
      this.ranges.has(host) ||
      this.#covers(host) ||
      reverseEnds(host)?.every((ip) => this.ranges.has(ip)) === true
    );
  }

  #covers(name: string): boolean {
    if (this.domains.size === 0) return false;
    for (let from = 0; ;) {
      if (this.domains.has(from === 0 ? name : name.slice(from))) return true;
      const dot = name.indexOf(".", from);
      if (dot < 0) return false;
      from = dot + 1;
    }
  }
}

/** An item in lower case, a URL without the dots behind its host. */
function singleOf(value: string): string {
  return value.toLowerCase().replace(/^(\w+:\/\/[^/:?#]*?)\.+(?=[/:?#]|$)/, "$1");
}

/**
 * Address ranges of both families. An IPv6 address that embeds IPv4 addresses is also in the ranges of
 * these, and stands for them where it is an entry.
 */
class AddressRanges {
  /** Prefixes in hex, by the number of bits behind them: every range is a network. */
  readonly #prefixes = new Map<bigint, Set<string>>();

  /**
   * Adds an address, or a network in CIDR notation; bits behind the prefix are ignored.
   *
   * @returns false if the text is neither
   */
  add(text: string): boolean {
    const slash = text.indexOf("/");
    const address = slash < 0 ? text : text.slice(0, slash);
    const width = address.includes(":") ? 128 : 32;
    const prefix = slash < 0 ? String(width) : text.slice(slash + 1);
    const ip = isIPv4(address) ? address : readIpv6(address);
    if (ip === null || !isPrefixLength(prefix, width)) return false;
    const length = Number(prefix);
    // The address itself, or that in the mixed notation of an IPv4-mapped one.
    const isQuad = length >= width - 32 && ip.includes(".");
    const quad = isQuad ? ip.slice(ip.lastIndexOf(":") + 1) : null;
    const bits = BigInt(width - length);
    const first = ((quad === null ? v6Number(ip) : quadNumber(quad)) >> bits) << bits;
    const last = first + (1n << bits) - 1n;
    this.#addRange(first, last);
    if (quad === null && width === 128) this.#addEmbedded(v6Text(first), v6Text(last));
    return true;
  }

  /** Adds the IPv4 addresses that a network stands for, unless these are all that there are. */
  #addEmbedded(first: string, last: string): void {
    const others = embeddedIpv4(last).map(quadNumber);
    for (const [at, quad] of embeddedIpv4(first).map(quadNumber).entries()) {
      const other = others[at] ?? quad;
      if ((quad ^ other) !== allBits) this.#addRange(quad, other);
    }
  }

  #addRange(first: bigint, last: bigint): void {
    const bits = first === last ? 0n : BigInt((first ^ last).toString(2).length);
    const prefixes = this.#prefixes.get(bits) ?? new Set();
    this.#prefixes.set(bits, prefixes.add((first >> bits).toString(16)));
  }

  /** Adds what a reverse name stands for; any other name adds nothing. */
  addReverse(name: string): void {
    const ends = reverseEnds(name);
    if (ends === null) return;
    const [first, last] = ends.map((ip) => (isIPv4(ip) ? quadNumber(ip) : v6Number(ip)));
    this.#addRange(first!, last!);
  }

  has(ip: string): boolean {
    if (this.#prefixes.size === 0) return false;
    if (!ip.includes(":")) return isIPv4(ip) && this.#covers(quadNumber(ip));
    if (this.#covers(v6Number(ip))) return true;
    return embeddedIpv4(ip).some((quad) => this.#covers(quadNumber(quad)));
  }

  #covers(address: bigint): boolean {
    for (const [bits, prefixes] of this.#prefixes) {
      if (prefixes.has((address >> bits).toString(16))) return true;
    }
    return false;
  }
}

/** Numbers of IPv4 addresses follow those of IPv6. */
const firstV4 = 1n << 128n;

/** What the first IPv4 address and the last differ in. */
const allBits = (1n << 32n) - 1n;

function quadNumber(quad: string): bigint {
  return firstV4 + BigInt(v4Number(quad));
}
