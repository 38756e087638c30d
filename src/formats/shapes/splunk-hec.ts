import { systemClock } from "../../core/clock.js";
import { verdictOf } from "../../core/finding.js";
import { epochMs, reputeMember, documentFormat } from "./item-facts.js";

/** Writes one event per row for Splunk's HTTP Event Collector, at `/services/collector/event`. */
export const splunkHec = documentFormat(["event"], ({ columns, clock = systemClock }) => {
  const describe = reputeMember(columns);
  return (enriched) => {
    const { finding } = enriched;
    const ms = finding.lookedUpAt === null ? clock.now() : epochMs(finding.lookedUpAt);
    const event = describe(enriched, verdictOf(finding));
    // Splunk reads seconds since 1970; milliseconds are the fraction.
    return `{"time":${(ms / 1000).toFixed(3)},"source":"repute","sourcetype":"repute:lookup","event":${event}}\n`;
  };
});
