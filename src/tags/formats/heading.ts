import type { AddressList } from "../address/address-list.js";
import type { ListFacts } from "./types.js";

/**
 * Comment lines that tell what a firewall's file holds. What the service said is quoted and cut, so
 * that nothing of it can end its line and become a command; ipset reads lines of 1024 bytes.
 */
export function heading({ v4, v6 }: AddressList, facts: ListFacts): string {
  return [
    `# tag ${quoted(facts.tag)}: ${v4.length} IPv4 and ${v6.length / 4} IPv6 addresses`,
    `# snapshot ${quoted(facts.snapshot)}, last update ${quoted(facts.lastUpdate)}, exported at ${facts.exportedAt}`,
    "",
  ].join("\n");
}

const longestQuotation = 200;

function quoted(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(/[^ -~]/g, "?");
  return escaped.length <= longestQuotation
    ? `"${escaped}"`
    : `"${escaped.slice(0, longestQuotation)} ..."`;
}
