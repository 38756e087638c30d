import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseOutput } from "../../../../src/jobs/enrich/destination/choose-output.js";
import { enrichOptions, inGroups } from "../../../../src/jobs/enrich/options.js";
import { parseOutput } from "../../../../src/io/output/registry.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const csv = (): Promise<"csv"> => Promise.resolve("csv");

const table = "duckdb:w.db?table=t";

it.each<[string, string, string, string?, Flags?]>([
  ["the input", "in.csv", "output_is_input"],
  ["a link to the input", "link.csv", "output_is_input"],
  ["an output that grows under its name", "grows.csv", "output_is_input", "grows.csv.part"],
  ["an output with its manifest there", "a.csv", "output_is_input", "a.csv.manifest.json"],
  ["a directory", "folder", "output_is_directory"],
  ["a directory that is not there", "new/", "output_is_directory"],
  ["a folder of objects", "s3://lake/new/", "output_is_directory"],
  ["a folder that is not there", "none/out.csv", "output_folder_missing"],
  ["Parquet with --to", "out.parquet", "option_unused", "in.csv", { to: "csv" }],
  ["a nested table", table, "option_unused", "in.csv", { shape: "nested" }],
  ["the input as Parquet", "in.parquet", "output_is_input", "in.parquet"],
  ["a table with its manifest there", table, "output_is_input", "w.db.t.manifest.json"],
  ["a directory as database", "duckdb:folder?table=t", "output_is_directory"],
  ["a named pipe as Parquet", "pipe.parquet", "output_no_file"],
  ["Parquet in a folder that is not there", "none/out.parquet", "output_folder_missing"],
  ["a database without a table's address", "out.duckdb", "unknown_output"],
  ["a database without a table", "duckdb:out.duckdb", "bad_output"],
  ["a server without a table", "postgres://me:secret@db.example/x", "bad_output"],
  ["an address of no known kind", "mysql://me:secret@db.example/x", "unknown_output"],
])("refuses %s", async (_, output, code, input = "in.csv", flags = {}) => {
  const folder = await prepared();
  await writeFile(join(folder, input), "ip\n");
  await expect(chosen(folder, input, output, flags)).rejects.toMatchObject({
    code,
    message: expect.not.stringContaining("secret"),
  });
});

describe("the name of an output", () => {
  it.each(["out.xlsx", "OUT.XLSX", "out.csv.zst", "out.csv?x=1", "out.csv.failed"])(
    "%s is refused, because nothing would read it",
    async (output) => {
      const folder = await prepared();
      await expect(chosen(folder, "in.csv", output)).rejects.toMatchObject({
        code: "unknown_output",
        hint: expect.stringMatching(/^name it |^choose a name/),
      });
    },
  );

  it("gets a suggestion if it is misspelt", async () => {
    const folder = await prepared();
    await expect(chosen(folder, "in.csv", "out.ndjsn")).rejects.toMatchObject({
      message: expect.stringMatching(
        /\.ndjsn is not an output format \(did you mean \.ndjson\?\)$/,
      ),
    });
  });

  it.each(["out", "out.gz", ".out", "out.", "OUT.CSV", "out.json", "out.tab.gz", "pipe"])(
    "%s is accepted",
    async (output) => {
      const folder = await prepared();
      expect(await chosen(folder, "in.csv", output)).toMatchObject({ output: { rules: null } });
    },
  );

  it("may be anything for a device or a named pipe", async () => {
    const folder = await prepared();
    expect(await chosen(folder, "in.csv", "pipe.out")).toMatchObject({ file: null, base: null });
  });

  it("may be anything if --to sets the format", async () => {
    const folder = await prepared();
    expect(await chosen(folder, "in.csv", "out.xlsx", { to: "tsv" })).toMatchObject({
      file: join(folder, "out.xlsx"),
      format: "tsv",
    });
  });
});

describe("chooseOutput of a warehouse", () => {
  it.each([
    ["out.parquet", "parquet", "out.parquet", "out.parquet"],
    ["duckdb:out.duckdb?table=night.rows", "duckdb", null, "out.duckdb.night.rows"],
    ["duckdb:link.duckdb?table=enriched", "duckdb", null, "real.duckdb.enriched"],
    ["duckdb:later.duckdb?table=enriched", "duckdb", null, "folder/new.duckdb.enriched"],
    ["later.parquet", "parquet", "folder/new.parquet", "folder/new.parquet"],
    ["later.csv", "csv", "folder/new.csv", "folder/new.csv"],
  ])(
    "tells what of %s appears by rename, and where the run's own files are",
    async (output, format, file, base) => {
      const folder = await prepared();
      await writeFile(join(folder, "real.duckdb"), "");
      await symlink("real.duckdb", join(folder, "link.duckdb"));
      for (const extension of ["duckdb", "parquet", "csv"]) {
        await symlink(`folder/new.${extension}`, join(folder, `later.${extension}`));
      }
      expect(await chosen(folder, "in.csv", output)).toMatchObject({
        format,
        file: file === null ? null : join(folder, file),
        base: join(folder, base),
      });
    },
  );

  it("keeps the files of a run into a server in the working folder, and no password in names", async () => {
    const settings = settingsOf({});
    const output = "postgres://me:secret@db.example:5433/intel?table=a.b&password=other";
    const target = await chooseOutput({ ...settings, output: parseOutput(output) }, csv, []);
    expect(target).toMatchObject({
      file: null,
      format: "postgres",
      output: { name: "postgres://me@db.example:5433/intel?table=a.b" },
      base: expect.stringMatching(/\/repute-db\.example_5433-intel-a\.b-[0-9a-f]{8}$/),
    });
  });
});

async function prepared(): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "in.csv"), "ip\n");
  await symlink("in.csv", join(folder, "link.csv"));
  await mkdir(join(folder, "folder"));
  execFileSync("mkfifo", ["pipe", "pipe.out", "pipe.parquet"], { cwd: folder });
  return folder;
}

type Flags = Readonly<Record<string, string>>;

function settingsOf(flags: Flags) {
  return inGroups(enrichOptions.parse(flags)).output;
}

/** The paths of inputs and outputs are relative to the folder. */
async function chosen(folder: string, input: string, output: string, flags: Flags = {}) {
  const [, scheme = "", path = ""] = /^(duckdb:)?(.*)$/.exec(output) ?? [];
  return chooseOutput(
    {
      ...settingsOf(flags),
      output: parseOutput(output.includes("://") ? output : `${scheme}${join(folder, path)}`),
    },
    csv,
    [join(folder, input)],
  );
}
