import { readIp } from "../../core/item/ip.js";
import { readSha1 } from "../../core/item/detect.js";
import { lookupInPath } from "../endpoints.js";
import { itemDiffers } from "../answer-match.js";
import { asObject, readJson } from "../../core/json-members.js";
import type { Answer } from "../types.js";

/**
 * Notices answers to lookups that name another item than the one that was asked for. HTTP matches
 * answers to requests by their order alone: after one answer too many on a connection, every later one
 * belongs to the request before. Such a connection has to be closed.
 *
 * Addresses and hashes are told apart for sure. Of the other kinds a service may have spellings of its
 * own, so that only a share of such answers counts: closing a connection for each would cost a TLS
 * handshake a request.
 */
export class ShiftedAnswers {
  #lookups = 0;
  #doubtful = 0;

  /** @param path what was asked for, below the base address */
  has(path: string, { status, body }: Pick<Answer, "status" | "body">): boolean {
    if (status !== 200 && status !== 503) return false;
    const asked = lookupInPath(path);
    if (asked === null) return false;
    const { segment } = asked;
    this.#lookups++;
    const value = segment.includes("%") ? decoded(segment) : segment;
    // Nearly always the service writes an item as it was asked for.
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

/** Connections that are closed for a name that may be a spelling: so many, and a share of all lookups. */
const leastDoubtful = 8;
const doubtfulShare = 0.01;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
