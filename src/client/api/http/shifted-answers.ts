import { readIp } from "../../../core/item/ip.js";
import { readSha1 } from "../../../core/item/detect.js";
import { lookupEndpoints } from "../../../core/finding.js";
import { itemDiffers } from "../answer-match.js";
import { asObject, readJson } from "../../../core/json-members.js";
import type { Answer } from "../types.js";

/**
 * Detects answers to lookups that name another item than the requested one. HTTP/1.1 matches answers to
 * requests by order alone: after one surplus answer on a connection, every later one belongs to the
 * request before. Such a connection has to be closed.
 *
 * Addresses and hashes can be compared reliably. Other kinds may have spellings that only the service
 * knows, so only a share of such mismatches counts: closing a connection for each would cost a TLS
 * handshake per request.
 */
export class ShiftedAnswers {
  #lookups = 0;
  #doubtful = 0;

  /** @param path path of the request, below the base address */
  has(path: string, { status, body }: Pick<Answer, "status" | "body">): boolean {
    if (status !== 200 && status !== 503) return false;
    const [, segment] = lookupPath.exec(path) ?? [];
    if (segment === undefined) return false;
    this.#lookups++;
    const value = segment.includes("%") ? decoded(segment) : segment;
    // Services nearly always echo the item unchanged.
    if (body.includes(`"${value}"`)) return false;
    const { value: envelope } = readJson(body);
    const named = asObject(asObject(envelope)?.["result"])?.["item"];
    if (typeof named !== "string" || !itemDiffers(value, named)) return false;
    if (readIp(value) === value || readSha1(value) === value) return true;
    if (this.#doubtful >= leastDoubtful + doubtfulShare * this.#lookups) return false;
    this.#doubtful++;
    return true;
  }
}

/** A lookup's path below the base address, with the encoded item. */
const lookupPath = new RegExp(`^/(?:${lookupEndpoints.join("|")})/([^/?]+)$`);

/** Bounds on connections closed for mere spellings: a number, and a share of all lookups. */
const leastDoubtful = 8;
const doubtfulShare = 0.01;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
