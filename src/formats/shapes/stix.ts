import { randomUUID } from "node:crypto";
import { systemClock } from "../../core/clock.js";
import type { EnrichedRow } from "../../core/row.js";
import { type Accusation, accusationIn, verdictOf } from "../../core/verdict.js";
import { linesEncoder } from "../lines-encoder.js";
import { splitLines } from "../record-splitter.js";
import type { Encoder, EncoderOptions, WritableFormat } from "../types.js";
import { countIndicators } from "./stix-counter.js";
import { epochMs, knownFacts } from "./known-facts.js";
import { nameUuid, stixIndicatorId, stixPattern } from "./stix-indicator.js";

/**
 * When repute's objects were made. All versions of an object must agree on it (STIX 2.1, 3.6), and
 * no run knows when an earlier one first told of an item: so it is the same for all.
 */
const created = "2020-01-01T00:00:00.000Z";

/** Who the objects are by; first in the bundle, so that its list is never empty (STIX 2.1, 2.12). */
const identity = {
  type: "identity",
  spec_version: "2.1",
  id: `identity--${nameUuid("identity repute")}`,
  created,
  modified: created,
  name: "repute",
  identity_class: "system",
};

/** Terms of the vocabulary for indicator types (STIX 2.1, 10); `benign` is not among them. */
const indicatorTypes: Readonly<Record<Accusation, string>> = {
  malicious: "malicious-activity",
  suspicious: "anomalous-activity",
  listed: "unknown",
};

/** The line of an indicator. */
const indicatorLine = /^\{"type":"indicator","id":"([^"]+)"/;

/**
 * One bundle of STIX 2.1 with an indicator for each item that something speaks against, on a line
 * of its own. An item that comes again is not written again, whatever its row: a bundle must not
 * hold the same version of an object twice. Rows without an indicator are not in it.
 *
 * Memory grows with the indicators, by about 100 bytes each.
 */
export const stix: WritableFormat = {
  extensions: [],
  write: stixEncoder,
  split: splitLines,
  count: countIndicators,
  keepsReceived: () => false,
};

function stixEncoder(options: EncoderOptions): Encoder {
  const clock = options.clock ?? systemClock;
  const written = new Set<string>();

  const encodeRow = (enriched: EnrichedRow): string => {
    const { item, finding } = enriched;
    const accusation = accusationIn(verdictOf(finding));
    if (item === null || accusation === null) return "";
    const pattern = stixPattern(item);
    const id = stixIndicatorId(pattern);
    if (written.has(id)) return "";
    written.add(id);
    const { firstSeen, tags } = knownFacts(enriched);
    const lookedUp = finding.lookedUpAt === null ? clock.now() : epochMs(finding.lookedUpAt);
    const indicator = {
      type: "indicator",
      id,
      spec_version: "2.1",
      created_by_ref: identity.id,
      created,
      modified: timestamp(Math.max(lookedUp, epochMs(created))),
      name: item.value,
      indicator_types: [indicatorTypes[accusation]],
      pattern,
      pattern_type: "stix",
      pattern_version: "2.1",
      valid_from: timestamp(firstSeen === null ? lookedUp : epochMs(firstSeen)),
      labels: tags.length === 0 ? undefined : tags,
    };
    return `,\n${JSON.stringify(indicator)}`;
  };

  return {
    ...linesEncoder(encodeRow),
    header: `{"type":"bundle","id":"bundle--${randomUUID()}","objects":[\n${JSON.stringify(identity)}`,
    footer: "\n]}\n",
    get indicators() {
      return written.size;
    },
    reread(line) {
      const id = indicatorLine.exec(line)?.[1];
      if (id !== undefined) written.add(id);
    },
  };
}

/** RFC 3339 with milliseconds, as STIX wants it (2.1, 2.16). */
function timestamp(ms: number): string {
  return new Date(ms).toISOString();
}
