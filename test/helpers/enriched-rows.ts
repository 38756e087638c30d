import type { Answers, Finding, JsonObject } from "../../src/core/finding.js";
import type { Item } from "../../src/core/item/item.js";
import type { EnrichedRow, Row } from "../../src/core/row.js";
import { completeFinding } from "./complete-finding.mjs";

/** A row with plausible members, as from a CSV source. */
export function aRow(members: Partial<Row> = {}): Row {
  const number = members.number ?? 1;
  return {
    number,
    cells: ["192.0.2.1"],
    extra: null,
    json: null,
    itemText: "192.0.2.1",
    kindText: "",
    fault: null,
    size: 10,
    ...members,
  };
}

/** Members of a finding, with its results separate. */
export type FindingParts = Partial<Finding> & {
  readonly query?: JsonObject | null;
  readonly quickCheck?: JsonObject | null;
};

export function aFinding({ query, quickCheck, ...members }: FindingParts = {}): Finding {
  const answers: Answers = {
    ...(query ? { query: { result: query } } : {}),
    ...(quickCheck ? { "quick-check": { result: quickCheck } } : {}),
  };
  return { ...completeFinding, answers, ...members };
}

export const anItem: Item = { kind: "ip", value: "192.0.2.1" };

export function anEnrichedRow(
  row: Partial<Row> = {},
  finding: FindingParts = {},
  item: Item | null = anItem,
): EnrichedRow {
  return { row: aRow(row), item, finding: aFinding(finding) };
}

/** A full answer of kind IP with every member filled. */
export const fullIpResult = {
  item: "192.0.2.1",
  serviceMailBlocklist: "ACTIVE",
  type: "IP",
  bogon: false,
  tags: ["credentials:brute-force", "scanner:web"],
  firstSeen: "2025-01-01T00:00:00Z",
  lastSeen: "2026-01-01T00:00:00Z",
  intent: "malicious",
  reverseDns: { current: [{ entry: "a.example.com" }, { entry: "b.example.com" }] },
  abuseContact: {
    email: "abuse@example.net",
    status: "WORKING",
    lastVerification: "2025-12-01T00:00:00Z",
  },
  asn: { countryCode: "DE", asn: "AS64496", name: "Example Networks" },
  observedActivity: {
    honeypotInteractions: {
      firstSeen: "2025-02-01T00:00:00Z",
      lastSeen: "2025-03-01T00:00:00Z",
      observations: [
        {
          firstSeen: "2025-02-01T00:00:00Z",
          lastSeen: "2025-03-01T00:00:00Z",
          service: "ssh",
          type: "login",
        },
      ],
    },
    spamtrapInteractions: { firstSeen: null, lastSeen: null, observations: [] },
  },
} as const;
