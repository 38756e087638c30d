import type { Dataset, DatasetTag } from "../dataset/dataset.js";
import type { Verdict } from "../../core/finding.js";
import { Draw, newest, questions, drawnVerdict, wholeSeconds } from "./draw.js";

/** The tag with the longest list. */
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

/** Tests whether the dataset says something of an item, or has it on a tag's list. */
export function knownTo({ items, tags }: Dataset): (item: string) => boolean {
  const sources = [...tags.values()];
  return (item) => items.has(item) || sources.some(({ isBorneBy }) => isBorneBy(item));
}

/**
 * The dataset with the invented tags added. The list of each holds the addresses of reserved IPv4
 * blocks that bear it; a list of all addresses that do would be too long. It is made when it is first
 * read.
 */
export function withSyntheticTags(dataset: Dataset, seed: number): Dataset {
  const isKnown = knownTo(dataset);
  const bearersOf = (tag: string) => (address: string) => {
    const draw = new Draw(seed, address);
    return tagsOf(address, "ip", drawnVerdict(draw), draw).includes(tag) && !isKnown(address);
  };
  const added = tags.map(([name, intent, category, what]): [string, DatasetTag] => {
    const description = `Invented, for rehearsals: ${what}.`;
    let list: readonly string[] | undefined;
    const isBorneBy = bearersOf(name);
    const addresses = name === swarmTag ? swarmBlock : documentationAddresses;
    return [
      name,
      {
        tag: { name, intent, category, description, references: [], timeline: [] },
        lastUpdate,
        get list() {
          return (list ??= addresses().filter(isBorneBy));
        },
        isBorneBy,
      },
    ];
  });
  return { ...dataset, tags: new Map([...dataset.tags, ...added]) };
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

/** The tags in an invented answer. */
export function tagsOf(
  value: string,
  kind: "ip" | "domain",
  verdict: Verdict,
  draw: Draw,
): string[] {
  if (kind === "ip" && isInSwarmBlock(value)) return verdict === "malicious" ? [swarmTag] : [];
  if (verdict === "malicious") {
    const first = draw.pick(tagsByKind[kind], questions.tag, 1.6);
    const second = draw.pick(tagsByKind[kind], questions.secondTag);
    return draw.share(questions.known) < 0.3 && second !== first ? [first, second] : [first];
  }
  if (kind === "domain") return [];
  if (verdict === "suspicious") {
    const tags = ["scanner:invented-port-scan", "proxy:invented-residential"] as const;
    return [draw.pick(tags, questions.tag, 1.3)];
  }
  return draw.share(questions.tag) < 0.02 ? ["research:invented-survey"] : [];
}

/** Blocks reserved for documentation (RFC 5737): answered like public addresses, since the data is invented. */
const documentation = ["192.0.2.", "198.51.100.", "203.0.113."] as const;

/** Whether an address is in a block that only invented hosts are in. */
export function isInvented(address: string): boolean {
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

/** Every IPv4 address that is reserved for documentation. */
function documentationAddresses(): string[] {
  return documentation.flatMap((block) => Array.from({ length: 256 }, (_, host) => block + host));
}

/** Every address of 198.18.0.0/15. */
function swarmBlock(): string[] {
  return Array.from(
    { length: 2 ** 17 },
    (_, host) => `198.${18 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}`,
  );
}
