import { expect, test } from "vitest";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { type Workspace, workspace } from "../../../helpers/workspace.js";
import { ipResult, success } from "../../../client/api/answers.js";

const server = await startScriptedServer(({ path }) => {
  const item = path.slice(path.lastIndexOf("/") + 1);
  const seen = item.endsWith(".2") ? { firstSeen: "yesterday" } : {};
  return reply(200, success({ ...ipResult(), item, ...seen }));
});

async function enriched({ run }: Workspace, args: readonly string[]): Promise<string> {
  const { code, stderr } = await run("enrich", "in.csv", "--quiet", "-o", ...args);
  expect(code, stderr).toBe(0);
  return stderr;
}

const message =
  "row with a time that is not RFC 3339: CSV, TSV and NDJSON keep it, other outputs leave it out";

test.each(["out.csv", "out.parquet"])(
  "one warning names the first row with a time that is not RFC 3339: %s",
  async (output) => {
    const place = await workspace({ "in.csv": "ip\n203.0.114.1\n203.0.114.2\n203.0.114.2\n" });
    const args = ["--lookups", "query", "--intel-url", server.url];
    const stderr = await enriched(place, [output, ...args]);
    expect(stderr).toBe(`repute: warning: ${message} (2 times, first in row 2)\n`);
    expect(await place.manifest(output)).toMatchObject({
      warnings: { [message]: 2 },
      warned_rows: { [message]: 2 },
      drift: { "firstSeen=not a date-time": 1 },
    });
  },
);

test("warns that surplus cells are lost where --columns omits extra", async () => {
  const place = await workspace({ "in.csv": "item,note\n192.0.2.1,a,surplus\n" });
  const args = ["out.csv", "--local", "--columns"];
  expect(await enriched(place, [...args, "tags"])).toContain("add extra to --columns to keep them");
  expect(await enriched(place, [...args, "tags,extra"])).not.toContain("add extra");
  expect(await place.read("out.csv")).toContain('"[""surplus""]"');
});

test("moves surplus cells, and members that the first record lacks, to rep_extra", async () => {
  const place = await workspace({
    "in.csv": "ip\n192.0.2.1,a,b\n192.0.2.2\n",
    "in.ndjson": '{"ip":"192.0.2.1"}\n{"ip":"192.0.2.2","more":[1]}\n{broken\n',
  });
  expect(await enriched(place, ["out.csv", "--local"])).toBe(
    "repute: warning: row with more cells than there are columns (row 1)\n",
  );
  expect(await place.read("out.csv")).toContain(',"[""a"",""b""]"\n');
  const accepting = ["--quiet", "--fail-on", "never"];
  const flat = await place.run("enrich", "in.ndjson", "-o", "flat.csv", "--local", ...accepting);
  expect(flat).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect(await place.read("flat.csv")).toContain(',"{""more"":[1]}"\n');
  expect(await place.read("flat.csv")).toMatch(/\n,,,failed,.*,input_row,/);
});

const ignored = "values in the kind column were ignored: unrecognised, or not the item's kind";
const recased =
  "wallet address in a mixed case that fails its checksum (EIP-55); taken in lower case";
const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const other = address.replace(/d$/, "D");

test.each([
  [
    ["item,is", "example.com/a,domain", "192.0.2.1,ip", "example.com,what", "example.org,domain"],
    ["--kind-column", "is"],
    { kinds: { url: 1, ip: 1, domain: 2 }, warnings: { [ignored]: 2 } },
    { [ignored]: 1 },
  ],
  [
    ["item", address, address.toLowerCase(), other, `ETH: ${other} (x)`, "0xaB"],
    [],
    { kinds: { crypto_wallet: 4 }, warnings: { [recased]: 2 }, sources: { duplicate: 3 } },
    { [recased]: 3 },
  ],
])("counts kinds that the item contradicts, and wallets in a wrong case: %j", async (...given) => {
  const [rows, flags, counts, warned_rows] = given;
  const place = await workspace({ "in.csv": rows.join("\n") });
  await enriched(place, ["out.csv", ...flags, "--local"]);
  expect(await place.manifest()).toMatchObject({ ...counts, warned_rows });
  const { stdout } = await place.run("plan", "in.csv", ...flags, "--json");
  expect(JSON.parse(stdout)).toMatchObject({ warnings: counts.warnings });
});

test("warns of a column without an indicator in nine of ten rows", async () => {
  const rows = ["192.0.2.1,note", ...Array.from({ length: 19 }, () => "a word,192.0.2.2")];
  const place = await workspace({ "in.csv": ["name,ip", ...rows].join("\n") });
  const args = ["out.csv", "--local", "--item-column"];
  expect(await enriched(place, [...args, "name"])).toContain(
    '19 of 20 rows have no indicator in column "name"; choose another with --item-column',
  );
  expect(await enriched(place, [...args, "ip"])).not.toContain("no indicator");
});
