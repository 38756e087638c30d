import { describe, expect, it } from "vitest";
import { columns } from "../../src/core/columns.js";
import type { EnrichedRow } from "../../src/core/row.js";
import { anEnrichedRow, fullIpResult } from "../helpers/enriched-rows.js";

describe("columns", () => {
  it("read every member of a full IP answer", () => {
    const row = anEnrichedRow(
      {},
      {
        query: fullIpResult,
        quickCheck: {
          item: "192.0.2.1",
          serviceMailBlocklist: "PASSIVE",
          intent: "suspicious",
          bogon: false,
          activity: true,
        },
      },
    );
    expect(valuesOf(row)).toMatchObject({
      item: "192.0.2.1",
      kind: "ip",
      verdict: "malicious",
      type: "IP",
      mail_blocklist: "ACTIVE",
      bogon: false,
      intent: "malicious",
      tags: ["credentials:brute-force", "scanner:web"],
      reverse_dns: ["a.example.com", "b.example.com"],
      abuse_email: "abuse@example.net",
      abuse_status: "WORKING",
      abuse_verified_at: "2025-12-01T00:00:00Z",
      asn: "AS64496",
      as_name: "Example Networks",
      as_country: "DE",
      honeypot_first_seen: "2025-02-01T00:00:00Z",
      honeypot_last_seen: "2025-03-01T00:00:00Z",
      honeypot_observations: 1,
      spamtrap_first_seen: null,
      spamtrap_observations: 0,
      quick_mail_blocklist: "PASSIVE",
      quick_intent: "suspicious",
      quick_bogon: false,
      quick_activity: true,
      source: "live",
      http_status: 200,
      attempts: 1,
    });
  });

  it("read the blocklist status under the deployed service's name too", () => {
    const row = anEnrichedRow({}, { query: { abusixMailBlocklist: "ACTIVE" } });
    expect(valuesOf(row)["mail_blocklist"]).toBe("ACTIVE");
  });

  it("tolerate members of unexpected types", () => {
    const row = anEnrichedRow(
      {},
      {
        query: { tags: "x", reverseDns: 7, asn: [], observedActivity: { honeypotInteractions: 1 } },
      },
    );
    expect(valuesOf(row)).toMatchObject({ tags: null, reverse_dns: null, asn: null });
  });

  it("leave source empty if nothing was asked", () => {
    expect(valuesOf(anEnrichedRow({}, { source: "local" }, null))["source"]).toBeNull();
  });
});

function valuesOf(row: EnrichedRow): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column.name, column.value(row)]));
}
