import {
  type Finding,
  type JsonObject,
  type LookupAnswer,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
  unasked,
} from "../core/finding.js";
import { asObject } from "../core/json-members.js";
import type { EarlierRecord } from "../formats/types.js";
import { combineFindings } from "../lookup/combine.js";
import type { EarlierRow } from "../earlier/earlier-row.js";

/** Adds the answers of an earlier row whose lookups were not retried. */
export function withKept({ earlier, record }: EarlierRow, now: Finding): Finding {
  // A lookup that failed again was retried.
  if (now.status !== "complete" && now.status !== "partial") return now;
  let whole = now;
  for (const endpoint of lookupEndpoints) {
    if (earlier.answers[endpoint] === undefined || now.answers[endpoint] !== undefined) continue;
    const missing = endpoint === "query" ? earlier.missing : [];
    const kept: Finding = {
      ...unasked(missing.length > 0 ? "partial" : "complete", null),
      answers: { [endpoint]: keptAnswer(record, endpoint) },
      missing,
      source: now.source,
      httpStatus: missing.length > 0 ? 503 : 200,
    };
    whole = endpoint === "query" ? combineFindings(kept, whole) : combineFindings(whole, kept);
  }
  return whole;
}

/** The result as received, where the output has it, or what its columns say. */
function keptAnswer(record: EarlierRecord, endpoint: LookupEndpoint): LookupAnswer {
  const text = record.text(memberOf(endpoint));
  const received = parsed(text);
  if (received !== null) return { result: received, text };
  return { result: endpoint === "query" ? queryResult(record) : quickCheckResult(record) };
}

function parsed(text: string): JsonObject | null {
  try {
    return text === "" ? null : asObject(JSON.parse(text));
  } catch {
    return null;
  }
}

function quickCheckResult(record: EarlierRecord): JsonObject {
  return {
    serviceMailBlocklist: textOf(record, "quick_mail_blocklist"),
    intent: textOf(record, "quick_intent"),
    bogon: flagOf(record, "quick_bogon"),
    activity: flagOf(record, "quick_activity"),
  };
}

function queryResult(record: EarlierRecord): JsonObject {
  const text = (name: string): string | null => textOf(record, name);
  const interactions = (name: string): JsonObject => ({
    firstSeen: text(`${name}_first_seen`),
    lastSeen: text(`${name}_last_seen`),
    observations: countOf(record, `${name}_observations`),
  });
  const names = record.list("reverse_dns");
  return {
    type: text("type"),
    serviceMailBlocklist: text("mail_blocklist"),
    bogon: flagOf(record, "bogon"),
    intent: text("intent"),
    tags: record.list("missing").includes("tags") ? null : record.list("tags"),
    firstSeen: text("first_seen"),
    lastSeen: text("last_seen"),
    reverseDns: names.length === 0 ? null : { current: names.map((entry) => ({ entry })) },
    abuseContact: {
      email: text("abuse_email"),
      status: text("abuse_status"),
      lastVerification: text("abuse_verified_at"),
    },
    asn: { asn: text("asn"), name: text("as_name"), countryCode: text("as_country") },
    observedActivity: {
      honeypotInteractions: interactions("honeypot"),
      spamtrapInteractions: interactions("spamtrap"),
    },
  };
}

function textOf(record: EarlierRecord, column: string): string | null {
  return record.text(column) || null;
}

function flagOf(record: EarlierRecord, column: string): boolean | null {
  const text = record.text(column);
  return text === "" ? null : text === "true";
}

function countOf(record: EarlierRecord, column: string): number | null {
  const text = record.text(column);
  return text === "" ? null : Number(text);
}
