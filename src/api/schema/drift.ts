import { abuseContactStatuses, blocklistStatuses, intents, resultTypes } from "./vocabulary.js";

type Result = { readonly [member: string]: unknown };

const types: ReadonlySet<unknown> = new Set(resultTypes);
const blocklists: ReadonlySet<unknown> = new Set(blocklistStatuses);
const intentions: ReadonlySet<unknown> = new Set(intents);
const contacts: ReadonlySet<unknown> = new Set(abuseContactStatuses);

const none: readonly string[] = [];

/**
 * The values of a query or quick-check result that the interface does not know, as `member=value`:
 * unknown words of an enumeration (`intent=evil`), and times that are no RFC 3339 date-time
 * (`firstSeen=not a date-time`). Such values are kept; counting them shows that the service has
 * moved on. The results of both endpoints have few members of the kind, so this costs little.
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

/** Longest part of an unknown value that is shown. */
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

/** RFC 3339 section 5.6; a blank may stand for the `T` by its note. */
const dateTime =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt ](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

function time(found: string[], prefix: string, member: string, value: unknown): void {
  if (typeof value !== "string" || dateTime.test(value)) return;
  // The value stays out of the count: a new text for every answer would make it grow without end.
  found.push(`${prefix}${member}=not a date-time`);
}

function objectIn(value: unknown): Result | null {
  return typeof value === "object" && value !== null ? (value as Result) : null;
}

/**
 * The mail blocklist status of a query or quick-check result, or null. The interface names the
 * member `serviceMailBlocklist`; the deployed service is known to name it `abusixMailBlocklist`.
 */
export function mailBlocklist(result: Result): string | null {
  const status = result["serviceMailBlocklist"] ?? result["abusixMailBlocklist"];
  return typeof status === "string" ? status : null;
}
