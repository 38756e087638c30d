import { expect, it } from "vitest";
import { columns } from "../../src/core/columns.js";
import { anEnrichedRow, type FindingParts, fullIpResult } from "../helpers/enriched-rows.js";

it("columns read every member of a full IP answer", () => {
  const words = { serviceMailBlocklist: "PASSIVE", intent: "suspicious" };
  const quickCheck = { item: "192.0.2.1", ...words, bogon: false, activity: true };
  expect(valuesOf({ query: fullIpResult, quickCheck })).toMatchObject({
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

it("columns read the blocklist status under the deployed service's name too", () => {
  const { mail_blocklist: status } = valuesOf({ query: { abusixMailBlocklist: "ACTIVE" } });
  expect(status).toBe("ACTIVE");
});

it("columns tolerate members of unexpected types", () => {
  const observedActivity = { honeypotInteractions: 1 };
  const values = valuesOf({ query: { tags: "x", reverseDns: 7, asn: [], observedActivity } });
  expect(values).toMatchObject({ tags: null, reverse_dns: null, asn: null });
});

it("columns leave source empty if nothing was asked", () => {
  expect(valuesOf({ source: "local" }, null)["source"]).toBeNull();
});

function valuesOf(finding: FindingParts, item?: null): Record<string, unknown> {
  const row = anEnrichedRow({}, finding, item);
  return Object.fromEntries(columns.map((column) => [column.name, column.value(row)]));
}
