import { expect, it } from "vitest";
import { columns } from "../../src/core/columns.js";
import { anEnrichedRow, type FindingParts } from "../helpers/enriched-rows.js";
import { ipResult, observedActivity } from "../client/api/answers.js";

it("columns read every member of a full IP answer", () => {
  const words = { serviceMailBlocklist: "PASSIVE", intent: "suspicious" };
  const quickCheck = { item: "192.0.2.1", ...words, bogon: false, activity: true };
  const spamtrapInteractions = { firstSeen: null, lastSeen: null, observations: [] };
  const activity = { ...observedActivity(), spamtrapInteractions };
  const query = { ...ipResult(), observedActivity: activity };
  expect(valuesOf({ query, quickCheck })).toMatchObject({
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
    abuse_verified_at: "2023-03-04T05:06:07+02:00",
    asn: "AS64496",
    as_name: "Example Network",
    as_country: "DE",
    honeypot_first_seen: "2023-01-12T03:04:05Z",
    honeypot_last_seen: "2023-01-23T04:05:06Z",
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
