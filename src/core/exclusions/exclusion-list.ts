import { itemCodes } from "../error-codes/item-codes.js";
import type { Item } from "../item/item.js";
import { hostOf } from "../item/url.js";
import { AddressRanges } from "./address-ranges.js";

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
    this.#singles.add(value.toLowerCase());
  }

  addPart(text: string): void {
    this.#parts.push(text.toLowerCase());
  }

  /** Whether an item is on the list: a URL with its host, an e-mail address with its domain. */
  has({ kind, value }: Item): boolean {
    if (this.#singles.size > 0 && this.#singles.has(value.toLowerCase())) return true;
    if (this.#parts.length > 0) {
      const text = value.toLowerCase();
      if (this.#parts.some((part) => text.includes(part))) return true;
    }
    if (kind === "ip") return this.ranges.has(value);
    if (kind === "domain") return this.#covers(value);
    if (kind === "url") return this.#hasHost(hostOf(value));
    if (kind !== "email") return false;
    const domain = value.slice(value.lastIndexOf("@") + 1);
    return this.mailDomains.has(domain) || this.#hasHost(domain);
  }

  #hasHost(host: string): boolean {
    return this.#singles.has(host) || this.ranges.has(host) || this.#covers(host);
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
