import { systemClock } from "../../core/clock.js";
import { verdictOf } from "../../core/finding.js";
import { jsonLinesEncoder } from "../lines-encoder.js";
import { splitLines } from "../record-splitter.js";
import { countJson } from "../ndjson/ndjson-output.js";
import type { Encoder, EncoderOptions, WritableFormat } from "../types.js";
import { epochMs, reputeMember } from "./item-facts.js";

/** Writes one event per row for Splunk's HTTP Event Collector, at `/services/collector/event`. */
export const splunkHec: WritableFormat = {
  extensions: [],
  write: splunkHecEncoder,
  split: splitLines,
  count: () => countJson(["event"]),
  keepsReceived: () => true,
};

function splunkHecEncoder(options: EncoderOptions): Encoder {
  const clock = options.clock ?? systemClock;
  const describe = reputeMember(options.columns);
  return jsonLinesEncoder((enriched) => {
    const { finding } = enriched;
    const ms = finding.lookedUpAt === null ? clock.now() : epochMs(finding.lookedUpAt);
    const event = describe(enriched, verdictOf(finding));
    // Splunk reads seconds since 1970; milliseconds are the fraction.
    return `{"time":${(ms / 1000).toFixed(3)},"source":"repute","sourcetype":"repute:lookup","event":${event}}\n`;
  });
}
