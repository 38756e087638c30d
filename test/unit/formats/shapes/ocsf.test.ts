import { expect, it } from "vitest";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { ocsf } from "../../../../src/formats/shapes/ocsf.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import {
  accused,
  items,
  maliciousRow,
  options,
  unansweredRows,
  unknownRow,
} from "./shaped-rows.js";

it("writes an event of class OSINT Inventory Info", () => {
  const { unmapped, metadata, ...event } = eventOf(maliciousRow);
  expect(event).toEqual({
    activity_id: 2,
    activity_name: "Collect",
    category_uid: 5,
    category_name: "Discovery",
    class_uid: 5021,
    class_name: "OSINT Inventory Info",
    type_uid: 502_102,
    type_name: "OSINT Inventory Info: Collect",
    severity_id: 0,
    severity: "Unknown",
    time: Date.parse("2026-01-02T03:04:05.000Z"),
    status_id: 1,
    status: "Success",
    osint: [
      {
        type_id: 1,
        type: "IP Address",
        value: "192.0.2.1",
        created_time: Date.parse("2025-01-01T00:00:00Z"),
        labels: ["credentials:brute-force", "scanner:web"],
        autonomous_system: { number: 64496, name: "Example Networks" },
        answers: [
          { type: "PTR", class: "IN", rdata: "a.example.com" },
          { type: "PTR", class: "IN", rdata: "b.example.com" },
        ],
        uid: "indicator--76827d50-5782-5117-baa6-c025e1e8c44d",
        detection_pattern: "[ipv4-addr:value = '192.0.2.1']",
        detection_pattern_type_id: 1,
        detection_pattern_type: "STIX",
        reputation: { score_id: 10, score: "Malicious", base_score: 10 },
      },
    ],
    observables: [{ name: "osint[0].value", type_id: 2, type: "IP Address", value: "192.0.2.1" }],
  });
  expect(metadata).toMatchObject({ version: "1.6.0", product: { name: "repute" } });
  expect(unmapped).toMatchObject({ repute: { verdict: "malicious", status: "complete" } });
});

it("gives no reputation to an unknown item", () => {
  const { osint, unmapped } = eventOf(unknownRow);
  expect(osint[0]).not.toHaveProperty("reputation");
  expect(osint[0]).not.toHaveProperty("uid");
  expect(unmapped.repute.verdict).toBe("none");
});

it.each([
  ["suspicious", { intent: "suspicious" }],
  ["listed", { serviceMailBlocklist: "ACTIVE" }],
])("calls what is %s risky, not malicious", (_, query) => {
  const { osint } = eventOf(anEnrichedRow({}, { query }));
  expect(osint[0]?.["reputation"]).toMatchObject({ score_id: 7 });
});

it.each([
  [items.ipv6, 1, 2],
  [items.domain, 2, 1],
  [items.url, 5, 6],
  [items.sha1, 4, 8],
  [items.email, 9, 5],
])("has types for %j", (item, typeId, observableId) => {
  const { osint, observables } = eventOf(accused(item));
  expect(osint[0]).toMatchObject({ type_id: typeId, value: item.value });
  expect(observables?.[0]).toMatchObject({ type_id: observableId, value: item.value });
});

it("writes every row with its status and error", () => {
  const lines = ocsf.write(options).encode(unansweredRows).trimEnd().split("\n");
  const events = lines.map((line) => JSON.parse(line) as Event);
  expect(events.map(({ unmapped }) => unmapped.repute.status)).toEqual([
    "unsupported",
    "invalid",
    "failed",
  ]);
  expect(events.map(({ status_id }) => status_id)).toEqual([99, 2, 2]);
  expect(events.map(({ status_code }) => status_code)).toEqual([
    "file_name",
    "invalid_item",
    "http_404",
  ]);
});

it("writes an unrecognised item as given, with type unknown and the clock's time", () => {
  const { osint, time } = eventOf(unansweredRows[0]!);
  expect(osint).toEqual([{ type_id: 0, type: "Unknown", value: "setup.exe" }]);
  expect(time).toBe(Date.parse("2026-05-06T07:08:09.000Z"));
});

interface Event extends Record<string, unknown> {
  readonly status_id: number;
  readonly status_code?: string;
  readonly osint: readonly Record<string, unknown>[];
  readonly observables?: readonly Record<string, unknown>[];
  readonly unmapped: { readonly repute: { readonly status: string; readonly verdict: unknown } };
}

function eventOf(row: EnrichedRow): Event {
  return JSON.parse(ocsf.write(options).encode([row])) as Event;
}
