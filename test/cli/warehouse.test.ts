import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rmdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, it, onTestFinished } from "vitest";
import { installCommand } from "../../src/core/load-driver.js";
import { queryDuckdb } from "../contract/warehouse-readers.js";
import type { ReadRow } from "../contract/warehouse-readers.js";
import { enrichKilled } from "../helpers/enrich-killed.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { countOf, manifestOf, places, prepared } from "../helpers/warehouse-run.js";

describe.each(places)("$kind", ({ kind, output, base, from, database }) => {
  const query = (cwd: string, sql: (from: string) => string): Promise<readonly ReadRow[]> =>
    queryDuckdb(
      sql(from.replace("FOLDER", cwd)),
      database === undefined ? undefined : join(cwd, database),
    );

  it("accepts the rows, and leaves only the manifest beside it", async () => {
    const { cwd, enrich } = await prepared(10);
    const { code, stderr } = await enrich(["in.csv", "-o", output]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await query(cwd, countOf)).toEqual([{ n: 10n, keys: 10n, last: 10n }]);
    const file = database ?? base;
    expect((await readdir(cwd)).sort()).toEqual(["in.csv", file, `${base}.manifest.json`].sort());
    const manifest = await manifestOf(cwd, base);
    expect(manifest.output).toMatchObject({ path: output, format: kind, rows: 10 });
    expect(manifest.output.sha256 === null).toBe(kind !== "parquet");
    const [row] = await query(
      cwd,
      (rows) => `SELECT n, domain, rep_run_id, rep_tags, rep_first_seen FROM ${rows} LIMIT 1`,
    );
    expect(row).toMatchObject({
      n: "0",
      domain: "host-0.example.com",
      rep_run_id: manifest.run_id,
      rep_first_seen: BigInt(Date.parse("2025-01-01T00:00:00Z")) * 1000n,
    });
    expect(Array.isArray(row?.["rep_tags"])).toBe(true);
  });

  it("stores each row once if rows arrive out of order, and starts over only with --restart", async () => {
    const { cwd, server, enrich } = await prepared(1_200);
    const args = ["in.csv", "-o", output, "--unordered", "--resume"];
    const first = await enrichKilled({ server, cwd, args, kill: { requests: 600, ms: 0 } });
    expect(first.signal).toBe("SIGKILL");
    const refused = await enrich(["in.csv", "-o", output, "--unordered"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`an interrupted run of ${output} exists`);
    expect(refused.stderr).toMatch(/--resume[^]*--restart/);
    expect(await enrich(args)).toMatchObject({ code: 0, stderr: "" });
    expect(await query(cwd, countOf)).toEqual([{ n: 1_200n, keys: 1_200n, last: 1_200n }]);
  });

  it("completes a run that was interrupted before its manifest", async () => {
    const { cwd, enrich } = await prepared(10);
    await mkdir(join(cwd, `${base}.manifest.json`));
    expect((await enrich(["in.csv", "-o", output])).code).toBe(1);
    await rmdir(join(cwd, `${base}.manifest.json`));
    expect(await enrich(["in.csv", "-o", output, "--resume"])).toMatchObject({ code: 0 });
    expect(await query(cwd, countOf)).toEqual([{ n: 10n, keys: 10n, last: 10n }]);
    expect(await manifestOf(cwd, base)).toMatchObject({ output: { rows: 10 }, resumed: 1 });
  });

  it("lets verify detect a missing row", async () => {
    const { cwd, enrich } = await prepared(10);
    await enrich(["in.csv", "-o", output]);
    const fine = await runRepute(["verify", output], { cwd });
    expect(fine).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/10 rows.*, matches its manifest\n$/),
    });
    if (database === undefined) {
      const path = join(cwd, base);
      const bytes = await readFile(path);
      bytes[200] = (bytes[200] ?? 0) ^ 1;
      await writeFile(path, bytes);
    } else await query(cwd, (rows) => `DELETE FROM ${rows} WHERE rep_row = 3`);
    const { code, stderr } = await runRepute(["verify", output], { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(database === undefined ? /sha256|not as it was written/ : /table has 9/);
  });

  it("refuses retry into another kind of output and says what to do instead", async () => {
    const { cwd, enrich } = await prepared(10);
    await enrich(["in.csv", "-o", output]);
    await enrich(["in.csv", "-o", "out.csv"]);
    const service = ["--intel-url", "http://127.0.0.1:1/beta"];
    const from = await runRepute(["retry", output, "-o", "again.csv", ...service], { cwd });
    const to = await runRepute(["retry", "out.csv", "-o", output, ...service], { cwd });
    expect([from.code, to.code]).toEqual([2, 2]);
    expect(from.stderr).toMatch(
      /is parquet, and so is its retry[^]*leave out -o|filled in where they are/,
    );
    expect(to.stderr).toMatch(/is csv, and so is its retry[^]*leave out -o/);
  });

  it("stores hostile names and values, or reports what it changed", async () => {
    const { cwd, enrich } = await prepared(0);
    await writeFile(join(cwd, "in.csv"), hostileCsv);
    expect(await enrich(["in.csv", "-o", output, "--item-column", "ip"])).toMatchObject({
      code: 0,
    });
    const [row] = await query(cwd, (rows) => `SELECT * FROM ${rows}`);
    expect(Object.values(row ?? {}).slice(3, 3 + hostileNames.length)).toEqual(hostileCells);
    expect(Object.keys(row ?? {})).toHaveLength(3 + hostileNames.length + 36);
  });

  it("takes a table with an empty text in every row, which stays one", async () => {
    const cwd = await temporaryFolder();
    const rows = "SELECT '192.0.2.' || n AS ip, '' AS note, NULL AS owner FROM range(9) t(n)";
    await queryDuckdb(`COPY (${rows}) TO '${join(cwd, "in.parquet")}'`);
    const args = ["enrich", "in.parquet", "-o", output, "--local"];
    expect(await runRepute(args, { cwd })).toMatchObject({ code: 0 });
    const found = await query(cwd, (from) => `SELECT DISTINCT note, owner FROM ${from}`);
    expect(found).toEqual([{ note: "", owner: null }]);
  });

  it("replaces and counts NDJSON values that a database cannot store", async () => {
    const { cwd, enrich } = await prepared(0);
    const large = "ä".repeat(512 * 1024);
    const values = ["a\0b", "\uD800x", "y\uDC00", "plain \u{1F600}"];
    await writeFile(
      join(cwd, "in.ndjson"),
      [
        ...values.map((v) => JSON.stringify({ domain: "a.example.com", v })),
        ...Array.from({ length: 36 }, () => JSON.stringify({ domain: "a.example.com", v: large })),
      ].join("\n"),
    );
    const { code, stderr } = await enrich(["in.ndjson", "-o", output]);
    expect(code).toBe(0);
    expect(stderr).toMatch(/warning: replaced U\+0000 with U\+FFFD in values/);
    const stored = await query(cwd, (rows) => `SELECT v FROM ${rows} ORDER BY rep_row`);
    expect(stored.slice(0, 4).map(({ v }) => v)).toEqual([
      "a\uFFFDb",
      "\uFFFDx",
      "y\uFFFD",
      "plain \u{1F600}",
    ]);
    expect(stored.slice(4).every(({ v }) => v === large)).toBe(true);
    expect(stored).toHaveLength(40);
    const { warnings } = await manifestOf(cwd, base);
    expect(Object.values(warnings)).toEqual([2, 1]);
  });

  it("refuses an input column named like an added one, before any request", async () => {
    const { cwd, server, enrich } = await prepared(0);
    await writeFile(join(cwd, "in.csv"), "domain,Rep_Status\na.example.com,x\n");
    const { code, stderr } = await enrich(["in.csv", "-o", output]);
    expect({ code, asked: server.total }).toEqual({ code: 2, asked: 0 });
    expect(stderr).toMatch(/Rep_Status[^]*--prefix/);
    expect(existsSync(join(cwd, `${base}.state`))).toBe(false);
  });

  it("names the missing package it needs", async () => {
    const { cwd, enrich } = await prepared(1);
    const name = kind === "parquet" ? "hyparquet-writer" : "@duckdb/node-api";
    const packages = kind === "parquet" ? "hyparquet-writer hyparquet" : name;
    const { code, stderr } = await enrich(["in.csv", "-o", output], await without(cwd, name));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `repute: this needs the package ${name}\n  install it with: ${installCommand(packages, cwd)}\n  see: repute enrich --help\n`,
    });
    expect(await readdir(cwd)).not.toContain(`${base}.state`);
  });

  it("exports the addresses behind the tags of its rows", async () => {
    const cwd = await temporaryFolder();
    const { code } = await runRepute(
      ["enrich", "--local", "-o", output, "--tag-ips", "lists", "--quiet"],
      { cwd, stdin: "ip\n192.0.2.1\n" },
    );
    expect(code).toBe(0);
    const tags = Object.keys((await manifestOf(cwd, base)).tags);
    const lists = await runRepute(
      ["tags", "export", "--local", "--seen-in", output, "-o", "same", "--quiet"],
      { cwd },
    );
    expect(lists.code).toBe(0);
    expect(tags.length).toBeGreaterThan(0);
    expect(await exportedTags(cwd, "lists")).toEqual(tags.sort());
    expect(await exportedTags(cwd, "same")).toEqual(tags.sort());
  });
});

describe("a table of a DuckDB file", () => {
  const output = "duckdb:out.duckdb?table=nightly";
  const query = (cwd: string, sql: string): Promise<readonly ReadRow[]> =>
    queryDuckdb(sql, join(cwd, "out.duckdb"));

  it("starts over with --restart after a run that ended between its rows and its manifest: those stay", async () => {
    const { cwd, enrich } = await prepared(10);
    await mkdir(join(cwd, "out.duckdb.nightly.manifest.json"));
    expect((await enrich(["in.csv", "-o", output])).code).toBe(1);
    await rmdir(join(cwd, "out.duckdb.nightly.manifest.json"));
    expect((await enrich(["in.csv", "-o", output, "--restart"])).code).toBe(0);
    expect(await query(cwd, countOf("nightly"))).toEqual([{ n: 20n, keys: 20n, last: 10n }]);
  });

  it("continues the next day when a day's requests are used up", async () => {
    const { cwd, enrich } = await prepared(500);
    const args = ["in.csv", "-o", output, "--max-requests", "300"];
    const first = await enrich(args);
    expect(first.code).toBe(75);
    expect(first.stderr).toContain("to continue, repeat the command with --resume");
    expect(await enrich([...args, "--resume"])).toMatchObject({ code: 0, stderr: "" });
    expect(await query(cwd, countOf("nightly"))).toEqual([{ n: 500n, keys: 500n, last: 500n }]);
  });

  it("with missing columns is refused with the statements that add them", async () => {
    const { cwd, server, enrich } = await prepared(3);
    await query(cwd, "CREATE TABLE nightly (rep_run_id VARCHAR, rep_row BIGINT, n VARCHAR)");
    const { code, stderr } = await enrich(["in.csv", "-o", output]);
    expect({ code, asked: server.total }).toEqual({ code: 2, asked: 0 });
    expect(stderr).toContain('ALTER TABLE "nightly" ADD COLUMN "domain" VARCHAR;');
    expect(existsSync(join(cwd, "out.duckdb.nightly.state"))).toBe(false);
  });

  it("is recognised through a link", async () => {
    const { cwd, enrich } = await prepared(3);
    await enrich(["in.csv", "-o", output]);
    await symlink("out.duckdb", join(cwd, "link.duckdb"));
    await enrich(["in.csv", "-o", "duckdb:link.duckdb?table=nightly"]);
    expect(await query(cwd, countOf("nightly"))).toMatchObject([{ n: 6n, keys: 6n }]);
    expect(await readdir(cwd)).not.toContain("link.duckdb.nightly.manifest.json");
  });
});

it("stops on SIGINT while a database does not answer", async () => {
  const { cwd, server } = await prepared(3);
  const silent = createServer();
  const reached = once(silent, "connection");
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const { child, result } = startRepute(
    [
      "enrich",
      "in.csv",
      "-o",
      `postgres://me@127.0.0.1:${port}/x?table=enriched`,
      "--intel-url",
      server.url,
    ],
    { cwd },
  );
  await Promise.race([reached, result]);
  child.kill("SIGINT");
  expect(await result).toMatchObject({
    code: 130,
    stderr: expect.stringContaining(
      "repute: stopped by SIGINT\n  nothing was saved; run the command again\n",
    ) as string,
  });
  expect(await readdir(cwd)).toEqual(["in.csv"]);
});

/** An environment without a package. */
async function without(folder: string, name: string): Promise<Record<string, string>> {
  const hooks = `export async function resolve(specifier, context, next) {
    if (specifier !== ${JSON.stringify(name)}) return next(specifier, context);
    throw Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND" });
  }`;
  const path = join(folder, "without.mjs");
  await writeFile(
    path,
    `import { register } from "node:module";\nregister("data:text/javascript," + ${JSON.stringify(encodeURIComponent(hooks))});\n`,
  );
  return { NODE_OPTIONS: `--import=${path}` };
}

async function exportedTags(cwd: string, folder: string): Promise<readonly string[]> {
  const index = JSON.parse(await readFile(join(cwd, folder, "index.json"), "utf8")) as {
    tags: readonly { name: string }[];
  };
  return index.tags.map(({ name }) => name).sort();
}

it("verifies a DuckDB file that another program reads, without writing to it", async () => {
  const { cwd, enrich } = await prepared(10);
  const output = "duckdb:out.duckdb?table=nightly";
  expect(await enrich(["in.csv", "-o", output])).toMatchObject({ code: 0 });
  const file = join(cwd, "out.duckdb");
  const before = await readFile(file);
  // DuckDB allows many readers of a file, or one writer.
  const reader = await DuckDBInstance.create(file, { access_mode: "READ_ONLY" });
  onTestFinished(() => reader.closeSync());
  const { code, stdout } = await runRepute(["verify", output], { cwd });
  expect([code, stdout]).toEqual([0, `${output}: 10 rows, matches its manifest\n`]);
  expect((await readFile(file)).equals(before)).toBe(true);
});

const hostileNames: readonly string[] = [
  "ip",
  'with "quotes"',
  "same",
  "same",
  "select",
  "xmin",
  "",
  "Case",
  "case",
  "n".repeat(70),
  `${"n".repeat(70)}m`,
  "ä".repeat(40),
  "back\\slash; drop table x; --",
  "new\nline",
  "column_7",
  "rowid",
];

const hostileCells = [
  "192.0.2.1",
  ...hostileNames.slice(1).map((_, n) => ["'; drop table nightly; --", "\\N", "", "tab\t"][n % 4]!),
];

const quoted = (cells: readonly string[]): string =>
  cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",");

const hostileCsv = `${quoted(hostileNames)}\n${quoted(hostileCells)}\n`;
