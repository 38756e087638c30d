import type { ObservedActivity, QueryResult } from "../core/endpoints/query.js";
import type { Verdict } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import type { KnownAnswer, Dataset, DatasetTag } from "./dataset.js";
import { endpoints } from "../core/endpoints/endpoints.js";
import { notListed, unknownAddress } from "./item-answers.js";
import { seededHash } from "../core/seeded-hash.js";

/** Invents an answer for every item, always the same for a seed and an item. */
export function syntheticAnswers(seed: number): (item: Item) => KnownAnswer {
  return (item) => {
    const unlisted = notListed(item);
    if (unlisted.type === "IP_BOGON" && !isInvented(item.value)) return { result: unlisted };
    const draw = drawFor(seed, item.value);
    const verdict = drawnVerdict(draw);
    const { result, intent } = invent(seed, item, verdict, draw);
    const isPartial = draw.share("partial") < syntheticShares.partial;
    return {
      result,
      // The quick check's intent cannot come from a result without one.
      ...(!("intent" in result) && {
        quickCheck: { ...endpoints["quick-check"].answerFrom(result), intent },
      }),
      ...(isPartial && { partial: { missing: [missingOf(result, draw)], forever: true } }),
    };
  };
}

/**
 * Shares of items that get each answer, bogons aside. The rest has the verdict `none`. A partial
 * answer stays partial however often it is asked for; the quick check still has the intent.
 */
export const syntheticShares = {
  malicious: 0.2,
  suspicious: 0.1,
  listed: 0.05,
  partial: 0.05,
} as const;

function drawnVerdict(draw: Draw): Verdict {
  const share = draw.share("verdict");
  const { malicious, suspicious, listed } = syntheticShares;
  if (share < malicious) return "malicious";
  if (share < malicious + suspicious) return "suspicious";
  return share < malicious + suspicious + listed ? "listed" : "none";
}

/** The latest time in any answer. Fixed, so that answers are the same every day. */
const newest = Date.UTC(2026, 5, 30, 6);

/** RFC 3339 UTC with whole seconds. */
function wholeSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function invent(
  seed: number,
  item: Item,
  verdict: Verdict,
  draw: Draw,
): { readonly intent: string; readonly result: QueryResult } {
  const isAccused = verdict === "malicious" || verdict === "suspicious";
  const intent = isAccused ? verdict : "none";
  const serviceMailBlocklist = verdict === "listed" ? "ACTIVE" : "NOT_LISTED";
  const { kind, value } = item;
  if (kind !== "ip" && kind !== "domain") {
    return { intent, result: { ...notListed(item), serviceMailBlocklist } };
  }
  const span = verdict === "none" ? null : spanOf(draw);
  const known = {
    serviceMailBlocklist,
    tags: tagsOf(value, kind, verdict, draw),
    firstSeen: span && wholeSeconds(span.first),
    lastSeen: span && wholeSeconds(span.last),
    intent,
    observedActivity: observedActivity(isAccused ? span : null, draw),
  };
  return kind === "ip"
    ? { intent, result: { ...unknownAddress(value), ...hostFacts(seed, value, draw), ...known } }
    : { intent, result: { ...notListed(item), ...known } };
}

function hostFacts(seed: number, address: string, draw: Draw) {
  // Neighbouring addresses share a network, and a few networks have most addresses.
  const network = drawFor(seed, address.slice(0, -1)).pick(networks, "network", 2.2);
  const domain = `${network.asn.toLowerCase()}.example.net`;
  const isReached = draw.share("contact") < 0.8;
  const host = address.replaceAll(/[.:]+/g, "-");
  return {
    type: "IP" as const,
    bogon: false as const,
    reverseDns: {
      current: draw.share("name") < 0.6 ? [{ entry: `host-${host}.${domain}` }] : null,
    },
    abuseContact: {
      email: `abuse@${domain}`,
      status: isReached ? "WORKING" : "RECIPIENT_FAILED",
      lastVerification: lastUpdate,
    },
    asn: { countryCode: network.countryCode, asn: network.asn, name: network.name },
  };
}

/** Two members for a partial answer to lack. */
function missingOf(result: QueryResult, draw: Draw): string[] {
  const members = Object.keys(result).filter((name) => name !== "item" && name !== "type");
  const first = draw.below(members.length, "missing");
  return [...members, ...members].slice(first, first + Math.min(2, members.length));
}

const trades = ["HOSTING", "TELECOM", "CLOUD", "BROADBAND", "MOBILE", "CAMPUS"] as const;
const countries = ["US", "DE", "BR", "NL", "IN", "FR", "GB", "VN", "ZA", "PL", "JP", "MX"] as const;

/** Invented networks, with names that say so. */
const networks = Array.from({ length: 32 }, (_, index) => ({
  // 64496 to 64511 and 65536 to 65551 are reserved for documentation (RFC 5398).
  asn: `AS${index < 16 ? 64_496 + index : 65_520 + index}`,
  name: `INVENTED-${trades[index % trades.length]}-${1 + Math.floor(index / trades.length)}`,
  countryCode: countries[(index * 5) % countries.length]!,
}));

const services = ["ssh", "rdp", "smtp", "http", "telnet"] as const;
const maxObservations = 20;

/** Invented honeypot and spam trap activity within the span; none without a span. */
function observedActivity(span: Span | null, draw: Draw): ObservedActivity {
  const service = draw.pick(services, "service", 1.8);
  const isTrapped = draw.share("spamtrap") < 0.3;
  return {
    honeypotInteractions: interactions(span, draw, "honeypot", { service, type: "connection" }),
    spamtrapInteractions: interactions(isTrapped ? span : null, draw, "spamtrap", { type: "mail" }),
  };
}

/** A few observations for most items, many for a few. */
function interactions<Facts extends object>(
  span: Span | null,
  draw: Draw,
  kind: string,
  facts: Facts,
) {
  if (span === null) return { firstSeen: null, lastSeen: null, observations: [] };
  const seen = { firstSeen: wholeSeconds(span.first), lastSeen: wholeSeconds(span.last) };
  const length = 1 + Math.floor(draw.share(`${kind} count`) ** 3 * maxObservations);
  return { ...seen, observations: Array.from({ length }, () => ({ ...seen, ...facts })) };
}

const dayMs = 86_400_000;

type Span = ReturnType<typeof spanOf>;

/** When an item was seen: within two years, most often recently. */
function spanOf(draw: Draw) {
  const last = newest - draw.share("lastSeen") ** 1.7 * 540 * dayMs;
  return { first: last - draw.share("firstSeen") ** 2 * 190 * dayMs, last };
}

export const swarmTag = "botnet:invented-swarm";

/** Name, intent, category, and what the tag stands for. */
const tags: readonly (readonly [string, string, string, string])[] = [
  [swarmTag, "malicious", "tool", "hosts that run an imaginary bot"],
  [
    "credentials:invented-guessing",
    "malicious",
    "activity",
    "guesses passwords of SSH, RDP and mail",
  ],
  ["malware:invented-dropper", "malicious", "tool", "serves an imaginary loader"],
  ["spam:invented-snowshoe", "malicious", "activity", "spreads unwanted mail over many hosts"],
  ["phishing:invented-login", "malicious", "activity", "shows login pages under a false name"],
  ["scanner:invented-port-scan", "suspicious", "activity", "probes many hosts for open ports"],
  ["proxy:invented-residential", "suspicious", "none", "passes on traffic of others"],
  ["research:invented-survey", "none", "actor", "announced measurement of the Internet"],
];

const lastUpdate = wholeSeconds(newest);

/** Tests whether the dataset has an item, or lists it under a tag. */
export function knownTo({ items, tags }: Dataset): (item: string) => boolean {
  const sources = [...tags.values()];
  return (item) => items.has(item) || sources.some(({ hasAddress }) => hasAddress(item));
}

/**
 * The dataset with invented tags, and invented answers for unknown items. Each tag lists only its
 * addresses in reserved IPv4 blocks, since a list of all would be too long. A list is made when first read.
 */
export function withInvented(dataset: Dataset, seed: number) {
  const [isKnown, invented] = [knownTo(dataset), syntheticAnswers(seed)];
  const added = tags.map(([name, intent, category, what]): [string, DatasetTag] => {
    const description = `Invented, for rehearsals: ${what}.`;
    const addresses = name === swarmTag ? swarmBlock : documentationAddresses;
    const hasAddress = (address: string): boolean => {
      const draw = drawFor(seed, address);
      return tagsOf(address, "ip", drawnVerdict(draw), draw).includes(name) && !isKnown(address);
    };
    let list: readonly string[] | undefined;
    return [
      name,
      {
        tag: { name, intent, category, description, references: [], timeline: [] },
        lastUpdate,
        get list() {
          return (list ??= addresses().filter(hasAddress));
        },
        hasAddress,
      },
    ];
  });
  return {
    dataset: { ...dataset, tags: new Map([...dataset.tags, ...added]) },
    unlisted: (item: Item) => (isKnown(item.value) ? { result: notListed(item) } : invented(item)),
  };
}

const tagsByKind = {
  ip: [
    "credentials:invented-guessing",
    "spam:invented-snowshoe",
    "malware:invented-dropper",
    "scanner:invented-port-scan",
  ],
  domain: ["phishing:invented-login", "malware:invented-dropper", "spam:invented-snowshoe"],
} as const;

function tagsOf(value: string, kind: "ip" | "domain", verdict: Verdict, draw: Draw): string[] {
  if (kind === "ip" && isInSwarmBlock(value)) return verdict === "malicious" ? [swarmTag] : [];
  if (verdict === "malicious") return [draw.pick(tagsByKind[kind], "tag", 1.6)];
  if (kind === "domain") return [];
  if (verdict === "suspicious") {
    const tags = ["scanner:invented-port-scan", "proxy:invented-residential"] as const;
    return [draw.pick(tags, "tag", 1.3)];
  }
  return draw.share("tag") < 0.02 ? ["research:invented-survey"] : [];
}

/** Blocks reserved for documentation (RFC 5737): answered like public addresses, since the data is invented. */
const documentation = ["192.0.2.", "198.51.100.", "203.0.113."] as const;

/** Whether an address is in a documentation or benchmark block: all its hosts are invented. */
function isInvented(address: string): boolean {
  return (
    documentation.some((block) => address.startsWith(block)) ||
    address.startsWith("2001:db8:") ||
    isInSwarmBlock(address)
  );
}

/** 198.18.0.0/15, reserved for benchmarks (RFC 2544): home of the tag with the longest list. */
function isInSwarmBlock(address: string): boolean {
  return address.startsWith("198.18.") || address.startsWith("198.19.");
}

function documentationAddresses(): string[] {
  return documentation.flatMap((block) => Array.from({ length: 256 }, (_, host) => block + host));
}

function swarmBlock(): string[] {
  return Array.from(
    { length: 2 ** 17 },
    (_, host) => `198.${18 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}`,
  );
}

type Draw = ReturnType<typeof drawFor>;

/** Numbers that depend on the seed, a text and the question alone. Each question draws independently. */
function drawFor(seed: number, text: string) {
  /** A number from 0 up to, not including, 1. */
  const share = (question: string): number => seededHash(seed, `${question} ${text}`, 0) / 2 ** 32;
  return {
    share,
    /** A whole number from 0 up to, not including, `end`. */
    below: (end: number, question: string): number => Math.floor(share(question) * end),
    /** One of the choices; `skew` above 1 prefers those at the beginning. */
    pick: <T>(choices: readonly T[], question: string, skew = 1): T =>
      choices[Math.floor(share(question) ** skew * choices.length)]!,
  };
}
