import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { formOfParquet } from "../../../src/io/output/parquet/read.js";
import type { Manifest } from "../../../src/core/manifest.js";
import { queryDuckdb } from "../../io/output/tables/warehouse-readers.js";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { copiedFolder } from "../../helpers/temporary-folder.js";
import { queriesTo, workspace } from "../../helpers/workspace.js";

/** A text that cannot be compressed: the file is then longer than what identifies it. */
const noteOf = (n: number): string =>
  Array.from({ length: 12 }, (_, part) => sha256(`${n} ${part}`)).join("");

const sha256 = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("hex");

const server = await startAnsweringServer();

const enriched = copiedFolder(enrichInput);

/** Writes `out.parquet` of 400 rows, of which every fourth failed. */
async function enrichInput(folder: string): Promise<void> {
  const lines = Array.from({ length: 400 }, (_, n) => {
    return `\uFEFF${n},host-${n}.example.com,,${noteOf(n)}\n`;
  });
  const input = `n,item,empty,note\n${lines.join("")}`;
  const { run } = await workspace({ "in.csv": input }, { folder });
  for (let n = 0; n < 400; n += 4) server.absent.add(`host-${n}.example.com`);
  const first = ["enrich", "in.csv", "-o", "out.parquet", "--retries", "0", "--raw"];
  expect(await run(...first, ...queriesTo(server))).toMatchObject({ code: 3 });
  server.absent.clear();
}

async function prepared() {
  const place = await workspace({}, { folder: await enriched() });
  const query = (sql: string) =>
    queryDuckdb(sql.replaceAll(/(\w+\.parquet)/g, (name) => `'${place.at(name)}'`));
  const retry = (...args: readonly string[]) => place.run("retry", ...args, ...queriesTo(server));
  return { ...place, retry, query };
}

const statuses = (file: string): string =>
  `SELECT rep_status, count(*) AS n, count(DISTINCT rep_row) AS keys FROM ${file} GROUP BY ALL`;

it("writes a new file, in which only the failed rows differ", async () => {
  const { run, query, at, retry } = await prepared();
  const sums = (file: string): string => `SELECT
    md5(string_agg(o::VARCHAR, '|' ORDER BY rep_row) FILTER ((rep_row - 1) % 4 <> 0)) AS others,
    md5(string_agg(concat_ws('|', rep_run_id, rep_row, n, item, empty, rep_item, rep_kind, rep_extra), '|' ORDER BY rep_row)) AS own,
    count(rep_query) AS answers, count(rep_error_code) AS errors FROM ${file} o`;
  const [before] = await query(sums("out.parquet"));
  expect(before).toMatchObject({ answers: 300n, errors: 100n });
  const hash = async () => sha256(await readFile(at("out.parquet")));
  const [earlier, asked] = [await hash(), server.total];

  const retried = await retry("out.parquet", "-o", "again.parquet", "--json");
  expect(retried).toMatchObject({ code: 0 });
  expect(server.total - asked).toBe(100);
  expect(await query(sums("again.parquet"))).toEqual([{ ...before, answers: 400n, errors: 0n }]);
  expect(await query(statuses("again.parquet"))).toEqual([
    { rep_status: "complete", n: 400n, keys: 400n },
  ]);
  expect(await hash()).toBe(earlier);
  const [{ rep_run_id: runId } = {}] = await query("SELECT DISTINCT rep_run_id FROM out.parquet");
  expect(JSON.parse(retried.stdout)).toMatchObject({
    run_id: runId,
    input: { path: "out.parquet", format: "parquet", delimiter: null, rows: 400 },
    retried: { failed: { complete: 100 } },
  } satisfies Partial<Record<keyof Manifest, unknown>>);
  expect(await run("verify", "again.parquet")).toMatchObject({ code: 0 });
});

it("keeps the run of a file that another program has written again", async () => {
  const { query, retry } = await prepared();
  await query("COPY (SELECT * FROM out.parquet) TO rewritten.parquet");
  const retried = await retry("rewritten.parquet", "-o", "again.parquet", "--json");
  const [{ rep_run_id: runId } = {}] = await query("SELECT DISTINCT rep_run_id FROM out.parquet");
  expect(JSON.parse(retried.stdout)).toMatchObject({ run_id: runId, exit_code: 0 });
});

it("starts over, with the answers so far, where the file has changed in the middle", async () => {
  const { at, retry } = await prepared();
  const path = at("out.parquet");
  const args = ["out.parquet", "-o", "again.parquet"];
  expect(await retry(...args, "--max-requests", "30")).toMatchObject({ code: 75 });
  const whole = await readFile(path);
  const changed = Buffer.from(whole);
  // Within a note: elsewhere, the file might not be readable any more.
  const middle = whole.length >> 1;
  const note = whole.toString("latin1", middle).search(/[0-9a-f]{16}/);
  changed[middle + note + 8]! ^= 1;
  await writeFile(path, changed);
  expect(await retry(...args, "--resume")).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /out\.parquet has changed since it was read, .*a new run starts\n.*took over 30 answers/,
    ),
  });
});

it("ends when the file is replaced while it is read", async () => {
  const { at } = await prepared();
  const path = at("out.parquet");
  const form = await formOfParquet(path, { prefix: "rep_" });
  await writeFile(`${path}.new`, await readFile(path));
  await rename(`${path}.new`, path);
  const { rows } = await form.open();
  const reading = (async () => {
    for await (const _ of rows);
  })();
  await expect(reading).rejects.toMatchObject({ code: "input_changed" });
});

it("refuses another format, and files that are not outputs", async () => {
  const { query, retry } = await prepared();
  await query("COPY (SELECT 1 AS item) TO other.parquet");
  await query("COPY (SELECT * REPLACE ([1] AS n) FROM out.parquet) TO typed.parquet");
  const cases = [
    [["out.parquet", "-o", "-"], "out.parquet is parquet, and so is its retry"],
    [["out.parquet", "-o", "again.csv"], "out.parquet is parquet, and so is its retry"],
    [["in.csv", "-o", "again.parquet"], "in.csv does not have the columns"],
    [["other.parquet", "-o", "again.parquet"], "has no column rep_run_id"],
    [
      ["typed.parquet", "-o", "again.parquet"],
      "has a column n that repute does not write: it is a list",
    ],
    [["none.parquet", "-o", "again.parquet"], "there is no file none.parquet"],
  ] as const;
  for (const [args, said] of cases) {
    const { code, stderr } = await retry(...args);
    expect([code === 0, stderr]).toEqual([false, expect.stringContaining(said)]);
  }
});
