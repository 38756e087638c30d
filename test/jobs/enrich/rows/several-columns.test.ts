import { expect, test } from "vitest";
import { servedWorkspace, workspace } from "../../../helpers/workspace.js";

const both = ["--item-column", "src", "--item-column", "dst"];

test("a row is written for each item column, and an item in two of them is asked once", async () => {
  const { manifest, records, run, server } = await servedWorkspace({
    "in.csv": "src,n,dst\n192.0.2.1,1,192.0.2.2\n192.0.2.2,2,\n192.0.2.3,3,192.0.2.1,surplus\n",
  });
  const args = ["enrich", "in.csv", "-o", "out.csv", ...both, "--intel-url", server.url];
  const { code, stderr } = await run(...args);
  expect(code, stderr).toBe(0);
  const rows = await records();
  const names = ["n", "rep_column", "rep_item", "rep_extra"];
  expect(rows.map((row) => names.map((name) => row[name]).join(" "))).toEqual([
    "1 src 192.0.2.1 ",
    "1 dst 192.0.2.2 ",
    "2 src 192.0.2.2 ",
    "2 dst  ",
    '3 src 192.0.2.3 ["surplus"]',
    '3 dst 192.0.2.1 ["surplus"]',
  ]);
  expect([...server.asked.values()]).toEqual(Array.from({ length: 6 }, () => 1));
  expect(await manifest()).toMatchObject({
    input: { item_column: "src,dst", item_column_by: "flag", rows: 6 },
    output: { rows: 6 },
  });
  expect((await run("verify", "out.csv")).code).toBe(0);
});

test("every element of a list in NDJSON has a row; an empty list has one, too", async () => {
  const lines = [
    '{"n":1,"ips":["192.0.2.1",7,"192.0.2.2"]}',
    '{"n":2,"ips":[]}',
    '{"n":3,"ips":"192.0.2.3","o":[{"v":"a.example.com"},{"v":null},{}]}',
  ];
  const { run, read } = await workspace({ "in.ndjson": lines.join("\n") });
  const itemsOf = async (...flags: readonly string[]): Promise<unknown> => {
    const args = ["enrich", "in.ndjson", "-o", "out.ndjson", "--local", ...flags];
    const { code, stderr } = await run(...args);
    expect(code, stderr).toBe(0);
    const rows = (await read("out.ndjson")).trim().split("\n");
    return rows.map((row) => {
      const { n, rep } = JSON.parse(row);
      return [n, rep.item ?? rep.error.code, ...("column" in rep ? [rep.column] : [])].join(" ");
    });
  };
  expect(await itemsOf("--item-column", "ips[]")).toEqual([
    "1 192.0.2.1",
    "1 not_text",
    "1 192.0.2.2",
    "2 empty",
    "3 192.0.2.3",
  ]);
  expect(await itemsOf("--item-column", "o[].v", "--item-column", "ips.0")).toEqual([
    "1 empty o[].v",
    "1 192.0.2.1 ips.0",
    "2 empty o[].v",
    "2 empty ips.0",
    "3 a.example.com o[].v",
    "3 empty o[].v",
    "3 empty ips.0",
  ]);
});

test("files have rows for those of the columns that they have", async () => {
  const place = await workspace({
    "a.csv": "src,dst\n192.0.2.1,192.0.2.2\n",
    "b.csv": "n,dst,host\n1,192.0.2.3,x.example.com\n",
    "c.csv": "ip\n192.0.2.4\n",
  });
  const args = ["enrich", "a.csv", "b.csv", "c.csv", "-o", "out.csv", "--local", ...both];
  const { code, stderr } = await place.run(...args);
  expect(code, stderr).toBe(0);
  const rows = await place.records();
  expect(rows.map((row) => `${row["rep_file"]} ${row["rep_column"]} ${row["rep_item"]}`)).toEqual([
    "a.csv src 192.0.2.1",
    "a.csv dst 192.0.2.2",
    "b.csv dst 192.0.2.3",
    "c.csv ip 192.0.2.4",
  ]);
  const one = ["--item-column", "dst", "--item-column", "ip"];
  const apart = ["enrich", "b.csv", "c.csv", "-o", "apart.csv", "--local", ...one];
  expect(await place.run(...apart)).toMatchObject({ code: 0 });
  const each = await place.records("apart.csv");
  expect(each.map((row) => row["rep_column"])).toEqual(["dst", "ip"]);
  const missing = await place.run(...args, "--item-column", "peer", "--restart");
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('column "peer"')]);
});

test.each([[["ip", "IP"]], [["dst", "ip", " ip "]], [["ip", "#ip"]]])(
  "a column that is named twice is refused: %j",
  async (names) => {
    const place = await workspace({
      "in.csv": "ip,dst,dst\n192.0.2.1,192.0.2.2,192.0.2.3\n",
      "in.ndjson": '{"ip":"192.0.2.1","dst":"192.0.2.2"}\n',
    });
    const flags = names.flatMap((name) => ["--item-column", name]);
    for (const [command, file] of [
      ["enrich", "in.csv"],
      ["enrich", "in.ndjson"],
      ["plan", "in.csv"],
    ]) {
      const { code, stdout, stderr } = await place.run(command!, file!, "--local", ...flags);
      expect([code, stdout, stderr]).toEqual([
        2,
        "",
        expect.stringContaining("is a column that was named already"),
      ]);
    }
  },
);

test("columns whose names differ in case are two", async () => {
  const { records, run } = await workspace({ "in.csv": "ip,IP\n192.0.2.1,192.0.2.2\n" });
  const flags = ["--item-column", "ip", "--item-column", "IP"];
  await run("enrich", "in.csv", "-o", "out.csv", "--local", ...flags);
  expect((await records()).map((row) => row["rep_item"])).toEqual(["192.0.2.1", "192.0.2.2"]);
});
