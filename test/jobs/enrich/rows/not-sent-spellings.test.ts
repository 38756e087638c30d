import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { readIp } from "../../../../src/core/item/ip.js";
import { repute } from "../../../../src/index.js";
import { spellingsOfIpv4, spellingsOfName } from "../../../helpers/host-spellings.js";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { success } from "../../../client/api/answers.js";
import { type Workspace, workspace } from "../../../helpers/workspace.js";

const exclusions = ["8.8.0.0/16", "corp.example.org"];
const spellings = fc.sample(
  fc.oneof(
    fc.constantFrom("8.8.200.9", "10.1.2.3").chain(spellingsOfIpv4),
    spellingsOfName(fc.constantFrom("corp.example.org", "nas.home.arpa")),
  ),
  { numRuns: 300, seed: 1 },
);
/** Addresses that are written as an address. */
const addresses = [...new Set(spellings.filter((text) => readIp(text) === text))];

const seen = "2026-01-02T03:04:05Z";

/** An output of an earlier run whose lookups all failed, as each of the kinds. */
function failedRows(items: readonly string[], kinds: readonly string[]): string {
  const needed = ["missing", "type", "intent", "mail_blocklist", "source", "verdict"];
  const quick = ["quick_mail_blocklist", "quick_intent", "quick_activity"];
  const empty = [...needed, ...quick];
  const names = ["item", "kind", "status", "error_code", "error", ...empty];
  const rows = items.flatMap((item) =>
    kinds.map((kind) => [item, item, kind, "failed", "http_500", "no", ...empty.map(() => "")]),
  );
  return stringify([["own", ...names.map((name) => `rep_${name}`)], ...rows]);
}

let place: Workspace;
let exclude: readonly string[];
let lookups: string[];
let url: string;

beforeEach(async () => {
  const env = { REPUTE_ACCESS_TOKEN: "a-token-of-tests" };
  place = await workspace({ list: exclusions.join("\n") }, { env });
  exclude = ["--exclude", place.at("list"), "--bogons", "local"];
  lookups = [];
  const server = await startScriptedServer(({ path }) => {
    if (path.includes("/reputation-share/") || path.includes("/cases/")) {
      return reply(200, { id: "7", event_ips: addresses });
    }
    const page = { tag: "a:b", entries: addresses, snapshot: "0".repeat(24), lastUpdate: seen };
    if (path.includes("/ips")) return reply(200, success({ ...page, total: addresses.length }));
    if (path.includes("/tags/")) return reply(200, success({ name: "a:b", intent: "malicious" }));
    lookups.push(decodeURIComponent(path));
    return reply(404, {});
  });
  url = server.url;
});

async function run(args: readonly string[], stdin = ""): Promise<number | null> {
  return (await place.runWith({ stdin }, ...args, "--intel-url", url, ...exclude)).code;
}

test.each<readonly [string, () => Promise<number | null>]>([
  [
    "enrich",
    async () => {
      await place.write("in.csv", stringify([["item"], ...spellings.map((s) => [s])]));
      return run(["enrich", "in.csv", "-o", "out.csv", "--max-failed", "100%"]);
    },
  ],
  [
    "retry of an older output",
    async () => {
      await place.write("out.csv", failedRows(spellings, ["ip", "domain", "url", "email"]));
      return run(["retry", "out.csv", "-o", "again.csv"]);
    },
  ],
  ["query", () => run(["query"], spellings.join("\n"))],
  ["quick-check", () => run(["quick-check"], spellings.join("\n"))],
  ["case enrich", () => run(["case", "enrich", "7", "--ops-url", url, "-o", "case.csv"])],
  [
    "the library",
    async () => {
      const client = repute({ url, exclude: [place.at("list")] });
      for await (const _ of client.lookupAll(spellings)) void _;
      await client.close();
      return 0;
    },
  ],
])("%s sends no spelling of what is excluded or internal", async (_, ask) => {
  expect([0, 1, 3]).toContain(await ask());
  expect(lookups).toEqual([]);
});

test("a tag's list has no spelling of what is excluded or internal", async () => {
  expect(await run(["tags", "export", "a:b", "-o", "lists"])).toBe(0);
  expect(await place.read("lists/a--b.txt")).toBe("");
});

test.each([
  ["query", "192.0.2.1"],
  ["quick-check", "192.0.2.1"],
  ["enrich", "in.txt"],
  ["plan", "in.txt"],
  ["retry", "out.csv"],
  ["case", "enrich", "7", "--ops-url", "http://127.0.0.1:9"],
  ["tags", "export", "a:b", "-o", "lists"],
])(
  "a list that is empty, missing or a device stops %s before the first request",
  async (...args) => {
    await place.write("in.txt", "192.0.2.1\n");
    await place.write("out.csv", failedRows(["192.0.2.1"], ["ip"]));
    await place.write("empty", "# nothing came\n");
    for (const [list, fault] of [
      ["empty", "it has no entries"],
      ["none.txt", "no such file"],
      ["/dev/zero", "it is not a regular file"],
    ]) {
      const { code, stderr } = await place.run(...args, "--intel-url", url, "--exclude", list!);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`${list}: ${fault}`)]);
    }
    expect(lookups).toEqual([]);
  },
);
