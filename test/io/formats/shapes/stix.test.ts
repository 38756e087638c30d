import { expect, it } from "vitest";
import type { EnrichedRow } from "../../../../src/core/row.js";
import {
  bundleEnd,
  bundleHeader,
  encodedId,
  stix,
} from "../../../../src/io/formats/shapes/stix.js";
import { anEnrichedRow, fullIpResult } from "../../../helpers/enriched-rows.js";
import {
  accused,
  items,
  maliciousRow,
  options,
  unansweredRows,
  unknownRow,
} from "./shaped-rows.js";

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

it("writes a bundle with an identity and one indicator per item", () => {
  const { type, id, objects } = bundleOf([maliciousRow]);
  expect(type).toBe("bundle");
  expect(id).toMatch(new RegExp(`^bundle--${uuid}$`));
  const [identity, indicator, ...more] = objects;
  expect(more).toEqual([]);
  expect(identity).toMatchObject({ type: "identity", name: "repute" });
  expect(indicator).toEqual({
    type: "indicator",
    id: "indicator--76827d50-5782-5117-baa6-c025e1e8c44d",
    spec_version: "2.1",
    created_by_ref: identity?.["id"],
    created: "2020-01-01T00:00:00.000Z",
    modified: "2026-01-02T03:04:05.000Z",
    name: "192.0.2.1",
    indicator_types: ["malicious-activity"],
    pattern: "[ipv4-addr:value = '192.0.2.1']",
    pattern_type: "stix",
    pattern_version: "2.1",
    valid_from: "2025-01-01T00:00:00.000Z",
    labels: ["credentials:brute-force", "scanner:web"],
  });
});

it.each([
  [items.ipv6, "[ipv6-addr:value = '2001:db8::1']"],
  [items.domain, "[domain-name:value = 'example.com']"],
  [items.url, "[url:value = 'https://example.com:8443/a?b=1#c']"],
  [items.sha1, `[file:hashes.'SHA-1' = '${items.sha1.value}']`],
  [items.email, "[email-addr:value = 'o\\'neill\\\\x@example.org']"],
  [items.wallet, `[cryptocurrency-wallet:value = '${items.wallet.value}']`],
])("has a pattern for %j", (item, pattern) => {
  expect(indicatorsOf([accused(item)])[0]).toMatchObject({ pattern, name: item.value });
});

it("writes no indicator for unknown items and failed lookups", () => {
  expect(indicatorsOf([unknownRow, ...unansweredRows])).toEqual([]);
});

it.each([
  [{ intent: "malicious" }, "malicious-activity"],
  [{ intent: "suspicious" }, "anomalous-activity"],
  [{ intent: "unknown", serviceMailBlocklist: "ACTIVE" }, "unknown"],
])("calls %j %s", (query, type) => {
  const [indicator] = indicatorsOf([anEnrichedRow({}, { query })]);
  expect(indicator).toMatchObject({ indicator_types: [type] });
});

it("uses the lookup time if the item's own is unknown", () => {
  const [indicator] = indicatorsOf([accused(items.domain)]);
  expect(indicator).toMatchObject({ valid_from: "2026-01-02T03:04:05.000Z" });
  expect(indicator).not.toHaveProperty("labels");
});

it("never has a modified time before created", () => {
  const row = anEnrichedRow({}, { query: fullIpResult, lookedUpAt: "2019-01-01T00:00:00Z" });
  expect(indicatorsOf([row])[0]).toMatchObject({ modified: "2020-01-01T00:00:00.000Z" });
});

it("gives an item the same identifier in every run", () => {
  const [one] = indicatorsOf([accused(items.url)]);
  const [other] = indicatorsOf([anEnrichedRow({}, { query: { intent: "suspicious" } }, items.url)]);
  expect(other?.["id"]).toBe(one?.["id"]);
});

it("tells the identifier of what it has encoded", () => {
  const row = accused(items.domain);
  expect(encodedId(stix.write(options).encode([row]))).toBe(indicatorsOf([row])[0]?.["id"]);
});

interface Bundle {
  readonly type: string;
  readonly id: string;
  readonly objects: readonly Record<string, unknown>[];
}

function bundleOf(rows: readonly EnrichedRow[]): Bundle {
  const encoder = stix.write(options);
  return JSON.parse(bundleHeader("a run") + encoder.encode(rows) + bundleEnd) as Bundle;
}

function indicatorsOf(rows: readonly EnrichedRow[]): readonly Record<string, unknown>[] {
  return bundleOf(rows).objects.filter(({ type }) => type === "indicator");
}
