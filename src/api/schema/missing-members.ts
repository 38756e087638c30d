import type { LookupEndpoint } from "../../core/finding.js";
import { mailBlocklist } from "./mail-blocklist.js";

/** Members that may be null in a partial result, by type and in the order of the interface. */
const members: ReadonlyMap<unknown, readonly string[]> = new Map([
  [
    "IP",
    [
      "serviceMailBlocklist",
      "bogon",
      "tags",
      "firstSeen",
      "lastSeen",
      "intent",
      "reverseDns",
      "abuseContact",
      "asn",
      "observedActivity",
    ],
  ],
  [
    "DOMAIN",
    ["serviceMailBlocklist", "tags", "firstSeen", "lastSeen", "intent", "observedActivity"],
  ],
]);

/** The kinds that have no other member (interface: Query results, types URL, SHA1, …). */
const blocklistAlone: readonly string[] = ["serviceMailBlocklist"];

const quickCheckMembers: readonly string[] = [
  "serviceMailBlocklist",
  "type",
  "bogon",
  "intent",
  "activity",
];

/**
 * The top-level members that are null in a partial result, in the order of the interface; an
 * absent member counts as null (interface: Partial result). The mail blocklist status goes by the
 * interface's name, whichever name the service used.
 */
export function missingMembers(
  result: { readonly [member: string]: unknown },
  endpoint: LookupEndpoint = "query",
): string[] {
  const possible =
    endpoint === "query" ? (members.get(result["type"]) ?? blocklistAlone) : quickCheckMembers;
  return possible.filter((member) =>
    member === "serviceMailBlocklist"
      ? mailBlocklist(result) === null
      : (result[member] ?? null) === null,
  );
}
