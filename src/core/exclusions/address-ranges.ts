import { isIPv4 } from "node:net";
import { embeddedIpv4, readIpv6 } from "../item/ip.js";

/** An address as a number: IPv4 as `number`, IPv6 as `bigint`. */
type AddressNumber = number | bigint;

/**
 * Address ranges of both families. An IPv6 address that embeds an IPv4 address (IPv4-mapped, 6to4,
 * NAT64) is also in the ranges of that one.
 */
export class AddressRanges {
  readonly #v4 = new Ranges<number>();
  readonly #v6 = new Ranges<bigint>();

  /**
   * Adds an address, or a network in CIDR notation; bits behind the prefix are ignored.
   *
   * @returns false if the text is neither
   */
  add(text: string): boolean {
    const slash = text.indexOf("/");
    const address = slash < 0 ? text : text.slice(0, slash);
    const family = addressNumber(address);
    if (family === null) return false;
    const isMapped = typeof family === "number" && address.includes(":");
    const width = address.includes(":") ? 128 : 32;
    const length = slash < 0 ? width : prefixLength(text.slice(slash + 1), width);
    if (length === null) return false;
    if (typeof family === "number") {
      const own = isMapped ? length - 96 : length;
      if (own < 0) return this.#addV6(v6Number(readIpv6(address)!), length);
      const size = 2 ** (32 - own);
      const first = Math.floor(family / size) * size;
      this.#v4.add(first, first + size - 1);
      return true;
    }
    return this.#addV6(family, length);
  }

  /** Whether an address is in a range. @param ip as `recogniseItem` writes it */
  has(ip: string): boolean {
    if (!ip.includes(":")) return isIPv4(ip) && this.#v4.has(quadNumber(ip));
    if (!this.#v6.isEmpty && this.#v6.has(v6Number(ip))) return true;
    const quad = ip.includes(".") ? ip.slice(ip.lastIndexOf(":") + 1) : embeddedIpv4(ip);
    return quad !== null && this.#v4.has(quadNumber(quad));
  }

  #addV6(address: bigint, length: number): true {
    const bits = BigInt(128 - length);
    const first = (address >> bits) << bits;
    this.#v6.add(first, first + (1n << bits) - 1n);
    return true;
  }
}

/** Ranges of one family. Sorted when the first address is looked for. */
class Ranges<T extends AddressNumber> {
  #firsts: T[] = [];
  #lasts: T[] = [];
  #isSorted = true;

  add(first: T, last: T): void {
    this.#firsts.push(first);
    this.#lasts.push(last);
    this.#isSorted = false;
  }

  get isEmpty(): boolean {
    return this.#firsts.length === 0;
  }

  has(address: T): boolean {
    if (!this.#isSorted) this.#sort();
    let low = 0;
    let high = this.#firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#firsts[middle]! <= address) low = middle + 1;
      else high = middle;
    }
    return low > 0 && address <= this.#lasts[low - 1]!;
  }

  /** Networks either contain each other or have nothing in common, so the outer ones are enough. */
  #sort(): void {
    const firsts = this.#firsts;
    const lasts = this.#lasts;
    const order = new Uint32Array(firsts.length).map((_, at) => at);
    order.sort((one, other) => {
      if (firsts[one] !== firsts[other]) return firsts[one]! < firsts[other]! ? -1 : 1;
      return lasts[one]! > lasts[other]! ? -1 : 1;
    });
    this.#firsts = [];
    this.#lasts = [];
    for (const at of order) {
      const end = this.#lasts.at(-1);
      if (end !== undefined && lasts[at]! <= end) continue;
      this.#firsts.push(firsts[at]!);
      this.#lasts.push(lasts[at]!);
    }
    this.#isSorted = true;
  }
}

/** An address as a number; IPv4-mapped addresses as IPv4. Null if the text is no address. */
function addressNumber(text: string): AddressNumber | null {
  if (isIPv4(text)) return quadNumber(text);
  const ip = readIpv6(text);
  if (ip === null) return null;
  return ip.includes(".") ? quadNumber(ip.slice(ip.lastIndexOf(":") + 1)) : v6Number(ip);
}

function quadNumber(quad: string): number {
  return quad.split(".").reduce((address, octet) => address * 256 + Number(octet), 0);
}

/** @param ip as `readIpv6` writes it */
function v6Number(ip: string): bigint {
  const [head = "", tail] = ip.split("::");
  const left = groupsOf(head);
  const right = groupsOf(tail ?? "");
  const zeros = "0000".repeat(8 - left.length / 4 - right.length / 4);
  return BigInt(`0x${left}${tail === undefined ? "" : zeros}${right}`);
}

/** Groups of four hex digits each. */
function groupsOf(text: string): string {
  if (text === "") return "";
  let digits = "";
  for (const group of text.split(":")) {
    digits += group.includes(".")
      ? quadNumber(group).toString(16).padStart(8, "0")
      : group.padStart(4, "0");
  }
  return digits;
}

/** A prefix length of at most `width`, also from a netmask (`255.255.255.0`); null for any other text. */
function prefixLength(text: string, width: number): number | null {
  if (/^\d{1,3}$/.test(text)) return Number(text) <= width ? Number(text) : null;
  if (width !== 32 || !isIPv4(text)) return null;
  const ones = quadNumber(text).toString(2).padStart(32, "0").indexOf("0");
  const length = ones < 0 ? 32 : ones;
  return quadNumber(text) === 2 ** 32 - 2 ** (32 - length) ? length : null;
}
