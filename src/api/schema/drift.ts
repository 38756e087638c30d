import { isTimestamp } from "../../core/clock.js";
import { abuseContactStatuses, blocklistStatuses, intents, resultTypes } from "./vocabulary.js";

type Result = { readonly [member: string]: unknown };

const types: ReadonlySet<unknown> = new Set(resultTypes);
const blocklists: ReadonlySet<unknown> = new Set(blocklistStatuses);
const intentions: ReadonlySet<unknown> = new Set(intents);
const contacts: ReadonlySet<unknown> = new Set(abuseContactStatuses);

const none: readonly string[] = [];

/**
 * The values of a query or quick-check result that the interface doesn't know, as `member=value`:
 * unknown enumeration values (`intent=evil`) and malformed times (`firstSeen=not a date-time`). Such
 * values are kept; counting them shows that the service has moved on.
 */
export function driftOf(result: Result): readonly string[] {
  const contact = objectIn(result["abuseContact"]);
  const activity = objectIn(result["observedActivity"]);
  const found: string[] = [];
  word(found, "type", result["type"], types);
  word(found, "serviceMailBlocklist", mailBlocklist(result), blocklists);
  word(found, "intent", result["intent"], intentions);
  times(found, "", result);
  if (contact !== null) {
    word(found, "abuseContact.status", contact["status"], contacts);
    time(found, "abuseContact.", "lastVerification", contact["lastVerification"]);
  }
  if (activity !== null) {
    times(found, "honeypotInteractions.", objectIn(activity["honeypotInteractions"]));
    times(found, "spamtrapInteractions.", objectIn(activity["spamtrapInteractions"]));
  }
  return found.length === 0 ? none : found;
}

const longestValue = 60;

function word(found: string[], member: string, value: unknown, known: ReadonlySet<unknown>): void {
  if (typeof value !== "string" || known.has(value)) return;
  found.push(`${member}=${value.slice(0, longestValue)}`);
}

function times(found: string[], prefix: string, result: Result | null): void {
  if (result === null) return;
  time(found, prefix, "firstSeen", result["firstSeen"]);
  time(found, prefix, "lastSeen", result["lastSeen"]);
}

function time(found: string[], prefix: string, member: string, value: unknown): void {
  if (typeof value !== "string" || isTimestamp(value)) return;
  // Counts without the value: different values in every answer would grow the counts without bound.
  found.push(`${prefix}${member}=not a date-time`);
}

function objectIn(value: unknown): Result | null {
  return typeof value === "object" && value !== null ? (value as Result) : null;
}

/**
 * The mail blocklist status of a query or quick-check result, or null. The specification calls the
 * member `serviceMailBlocklist`, deployed services call it `abusixMailBlocklist`.
 */
export function mailBlocklist(result: Result): string | null {
  const status = result["serviceMailBlocklist"] ?? result["abusixMailBlocklist"];
  return typeof status === "string" ? status : null;
}
