import { isIP } from "node:net";
import { expect, test } from "vitest";
import type { TagIps, TagSummary } from "../../src/client/api/calls.js";
import { loadDataset, sampleDataset } from "../../src/service/dataset.js";
import type { Service } from "../../src/service/service.js";
import { knownTo, swarmTag, syntheticAnswers } from "../../src/service/synthetic-answers.js";
import { datasetOf } from "../helpers/dataset-of.js";
import { askJson, resultOf, runningService, sending } from "./running-service.js";

function pageOf(service: Service, tag: string, offset: number, pin = ""): Promise<TagIps> {
  const path = `/beta/tags/${encodeURIComponent(tag)}/ips?limit=10000&offset=${offset}${pin}`;
  return resultOf<TagIps>(service, path);
}

/** The whole list of every tag, by name. */
async function listsOf(service: Service): Promise<ReadonlyMap<string, readonly string[]>> {
  const lists = new Map<string, readonly string[]>();
  for (const { name } of await resultOf<TagSummary[]>(service, "/beta/tags")) {
    const { entries, snapshot, total } = await pageOf(service, name, 0);
    const pin = `&snapshot=${encodeURIComponent(snapshot)}`;
    while (entries.length < total) {
      entries.push(...(await pageOf(service, name, entries.length, pin)).entries);
    }
    lists.set(name, entries);
  }
  return lists;
}

function query(service: Service, item: string) {
  type Result = { type: string; tags: readonly string[] | null; intent: string | null };
  return resultOf<Result>(service, `/beta/query/${item}`);
}

/** At most 60 entries, spread over the list. */
function someOf(list: readonly string[]): readonly string[] {
  const step = Math.ceil(list.length / 60);
  return list.filter((_, index) => index % step === 0);
}

test.each([undefined, 1])(
  "an address on a tag's list bears the tag, and is no bogon (--synthetic %s)",
  async (synthetic) => {
    const service = await runningService({ synthetic });
    const contradictions: string[] = [];
    for (const [tag, list] of await listsOf(service)) {
      for (const address of someOf(list)) {
        const { type, tags } = await query(service, address);
        // A partial answer may lack its tags.
        const bears = tags === null || tags?.includes(tag);
        if (type !== "IP" || !bears) contradictions.push(`${tag}: ${address} ${type}`);
      }
    }
    expect(contradictions).toEqual([]);
  },
);

test("an address on the dataset's lists has the same answer with --synthetic", async () => {
  const [plain, synthetic] = [await runningService(), await runningService({ synthetic: 1 })];
  for (const address of ["192.0.2.68", "198.19.255.3", "2001:db8:bf::1"]) {
    for (const endpoint of ["query", "quick-check"]) {
      const path = `/beta/${endpoint}/${address}`;
      expect(await askJson(synthetic, path)).toEqual(await askJson(plain, path));
    }
  }
});

test("the tags of every address in the dataset have it on their lists", async () => {
  const dataset = await loadDataset(sampleDataset);
  const service = await runningService({ dataset });
  const lists = await listsOf(service);
  const contradictions: string[] = [];
  for (const address of [...dataset.items.keys()].filter(isIP)) {
    const { tags } = await query(service, address);
    for (const tag of tags ?? []) {
      if (lists.get(tag)?.includes(address) !== true) contradictions.push(`${tag}: ${address}`);
    }
  }
  expect(contradictions).toEqual([]);
});

test("one invented list has more than 25,000 addresses, the same ones for the same seed", async () => {
  const service = await runningService({ synthetic: 3 });
  const list = (await listsOf(service)).get(swarmTag)!;
  expect(list.length).toBeGreaterThan(25_000);
  expect(new Set(list).size).toBe(list.length);
  const again = await runningService({ synthetic: 3 });
  expect(await pageOf(again, swarmTag, 0)).toEqual(await pageOf(service, swarmTag, 0));
});

test("an address that the dataset does not know is on the lists of exactly the tags in its answer", async () => {
  const lists = [...(await listsOf(await runningService({ synthetic: 3 })))]
    .filter(([name]) => name.includes(":invented-"))
    .map(([name, list]) => ({ name, addresses: new Set(list) }));
  expect(lists).toHaveLength(8);
  const isKnown = knownTo(await loadDataset(sampleDataset));
  const answer = syntheticAnswers(3);
  for (let host = 0; host < 256; host++) {
    for (const value of [`203.0.113.${host}`, `198.18.0.${host}`]) {
      if (isKnown(value)) continue;
      const { tags } = answer({ kind: "ip", value }).result as { tags: string[] };
      const listed = lists.filter(({ addresses }) => addresses.has(value)).map(({ name }) => name);
      expect(listed.toSorted(), value).toEqual(tags.toSorted());
    }
  }
});

const lastUpdate = "2024-01-01T00:00:00Z";
const twoTags = {
  tags: [
    { tag: { name: "a:bad", intent: "malicious" }, lastUpdate, entries: ["192.0.2.1"] },
    { tag: { name: "a:odd", intent: "suspicious" }, lastUpdate, entries: ["192.0.2.1", "9.9.9.9"] },
  ],
};

test("the intent of an address that only lists name is that of its gravest tag", async () => {
  const service = await runningService({ dataset: datasetOf(twoTags) });
  const worst = { type: "IP", tags: ["a:bad", "a:odd"], intent: "malicious" };
  expect(await query(service, "192.0.2.1")).toMatchObject(worst);
  expect(await query(service, "9.9.9.9")).toMatchObject({ tags: ["a:odd"], intent: "suspicious" });
  expect(await askJson(service, "/beta/quick-check/9.9.9.9")).toMatchObject({
    result: { bogon: false, intent: "suspicious" },
  });
});

test("a list that is replaced changes the tags of what was and what is on it", async () => {
  const service = await runningService();
  const path = "/_local/tags/credentials%3Abrute-force/ips";
  const entries = ["10.0.0.1", "192.0.2.66"];
  await askJson(service, path, sending("PUT", { entries }));
  const tagsNow = async (item: string) => (await query(service, item)).tags;
  expect(await tagsNow("10.0.0.1")).toEqual(["credentials:brute-force"]);
  expect(await tagsNow("192.0.2.66")).toEqual(["spam:snowshoe", "credentials:brute-force"]);
  expect(await tagsNow("192.0.2.1")).toEqual(["spam:snowshoe"]);
  expect(await query(service, "198.19.255.3")).toMatchObject({ type: "IP_BOGON" });
});
