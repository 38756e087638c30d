import type { Dataset, DatasetTag } from "../dataset/dataset.js";
import { documentationAddresses, swarmBlock } from "./addresses.js";
import { newest, wholeSeconds } from "./times.js";

interface TagFacts {
  readonly name: string;
  readonly intent: string;
  readonly category: string;
  readonly description: string;
}

/** The tag with the longest list. */
export const swarmTag = "botnet:invented-swarm";

const tags: readonly TagFacts[] = [
  malicious(swarmTag, "tool", "hosts that run an imaginary bot"),
  malicious("credentials:invented-guessing", "activity", "guesses passwords of SSH, RDP and mail"),
  malicious("malware:invented-dropper", "tool", "serves an imaginary loader"),
  malicious("spam:invented-snowshoe", "activity", "spreads unwanted mail over many hosts"),
  malicious("phishing:invented-login", "activity", "shows login pages under a false name"),
  fact("scanner:invented-port-scan", "suspicious", "activity", "probes many hosts for open ports"),
  fact("proxy:invented-residential", "suspicious", "none", "passes on traffic of others"),
  fact("research:invented-survey", "none", "actor", "announced measurement of the Internet"),
];

function malicious(name: string, category: string, what: string): TagFacts {
  return fact(name, "malicious", category, what);
}

function fact(name: string, intent: string, category: string, what: string): TagFacts {
  return { name, intent, category, description: `Invented, for rehearsals: ${what}.` };
}

const lastUpdate = wholeSeconds(newest);

/**
 * The dataset with the invented tags added. The list of each holds the addresses of reserved IPv4
 * blocks that bear it; a list of all addresses that do would be too long. It is made when it is first
 * read.
 *
 * @param tagsOf tags of an address that the dataset does not list
 */
export function withSyntheticTags(
  dataset: Dataset,
  tagsOf: (address: string) => readonly string[],
): Dataset {
  const bearersOf = (tag: string) => (address: string) =>
    !dataset.items.has(address) && tagsOf(address).includes(tag);
  const added = tags.map(({ name, ...facts }): [string, DatasetTag] => {
    let list: readonly string[] | undefined;
    const isBorneBy = bearersOf(name);
    const addresses = name === swarmTag ? swarmBlock : documentationAddresses;
    return [
      name,
      {
        tag: { name, ...facts, references: [], timeline: [] },
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
