import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PublisherOptions } from "../../../../src/io/output/publisher.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import { holdDuckdb } from "../../../helpers/held-duckdb.js";
import { HurriedClock } from "../../../helpers/hurried-clock.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { describeExistingTables } from "../tables/existing-tables.js";
import { checkOutput, openRun, publishRows, someRows } from "./publishing.js";
import { duckdbPlace } from "../tables/table-modes.js";

describeExistingTables(duckdbPlace);

describe("large rows", () => {
  const large = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) =>
      anEnrichedRow({ number: from + index, cells: ["x".repeat(1024 * 1024)] }),
    );

  it("are refused if DuckDB could not hold them in memory, and nothing is stored", async () => {
    const place = await aPlace();
    await publishRows(place.output, place.folder, someRows(1, 3), { runId: "night 1" });
    const { sink } = await openRun(place.output, place.folder, { runId: "large" });
    for (let number = 1; number <= 40; number++) await sink.write(large(number, number));
    await expect(sink.publish()).rejects.toMatchObject({
      code: "output_memory",
      message: expect.stringMatching(/its rows have 10\d\d KB on average, and DuckDB holds 2048/),
    });
    await sink.abandon();
    expect(await place.query("SELECT count(*) AS n FROM enriched")).toEqual([{ n: 3n }]);
  });
});

it("commits the rows of a run again without changing those that are there", async () => {
  const place = await aPlace();
  const { sink } = await openRun(place.output, place.folder);
  await sink.write(someRows(1, 3));
  await sink.publish();
  await place.query("UPDATE enriched SET ip = 'mine' WHERE rep_row = 2");
  await place.query("DELETE FROM enriched WHERE rep_row = 3");
  await sink.publish();
  const stored = await place.query("SELECT ip FROM enriched ORDER BY rep_row");
  expect(stored.map((row) => row["ip"])).toEqual(["cell 1", "mine", "cell 3"]);
});

it("the check before the first row leaves neither a file nor a table behind", async () => {
  const place = await aPlace();
  await place.open();
  expect(await readdir(place.folder)).toEqual(["state"]);
  await place.query("CREATE TABLE other (mine INTEGER)");
  await place.open();
  expect(await readdir(place.folder)).toEqual(["out.duckdb", "state"]);
  expect(await place.query("SELECT table_name AS name FROM information_schema.tables")).toEqual([
    { name: "other" },
  ]);
});

describe("an unusable file", () => {
  it("is open in another program", async () => {
    const place = await aPlace();
    await publishRows(place.output, place.folder, someRows(1, 1));
    const release = await holdDuckdb(place.file);
    const clock = new HurriedClock();
    await expect(place.open({ clock })).rejects.toMatchObject({
      code: "output_locked",
      message: expect.stringContaining("another program has it open"),
    });
    expect(clock.asked).toHaveLength(9);
    // It may be another run that publishes.
    await place.open({ clock: Object.assign(clock, { sleep: release }) });
  });

  it("is not a database", async () => {
    const place = await aPlace();
    // DuckDB would read a file with the second name as CSV, and write the rows nowhere.
    for (const file of [place.file, join(place.folder, "in.csv")]) {
      const output = `duckdb:${file}?table=t`;
      await writeFile(file, "ip,note\n192.0.2.1,\n".repeat(1_000));
      await expect(checkOutput(output)).rejects.toMatchObject({ code: "output_not_duckdb" });
      const find = parseOutput(output).records!({ prefix: "rep_", runId: null });
      await expect(find).rejects.toMatchObject({ code: "output_not_duckdb" });
    }
  });
});

async function aPlace() {
  const folder = await temporaryFolder();
  const output = duckdbPlace.output(folder);
  return {
    folder,
    file: join(folder, "out.duckdb"),
    output,
    open: (members: Partial<PublisherOptions> = {}) => checkOutput(output, members, folder),
    query: (sql: string) => duckdbPlace.sql(folder, () => sql),
  };
}
