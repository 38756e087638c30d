import { chmodSync } from "node:fs";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { shell } from "../../../helpers/shell.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** Runs the built program without root's right to ignore file modes. */
async function repute(cwd: string, args: readonly string[]) {
  const { code, stderr } = await shell(`repute ${args.map((arg) => `'${arg}'`).join(" ")}`, {
    cwd,
    as: "user",
  });
  return { code, stderr };
}

async function prepared(): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "in.csv"), "ip\n192.0.2.1\n");
  await mkdir(join(folder, "closed"));
  await chmod(join(folder, "closed"), 0o500);
  return folder;
}

test.each([
  ["in.csv", ["in.csv"], "in.csv"],
  ["t.parquet", ["t.parquet"], "t.parquet"],
  ["closed", ["closed/in.csv"], "closed/in.csv"],
  ["closed", [".", "--recursive"], "./closed/"],
])("an unreadable %s ends the run before the first request: %j", async (closed, input, named) => {
  const folder = await prepared();
  await writeFile(join(folder, "t.parquet"), "PAR1");
  await writeFile(join(folder, "out.csv"), "of last night\n");
  const before = (await readdir(folder)).toSorted();
  await chmod(join(folder, closed), 0);
  expect(await repute(folder, ["enrich", ...input, "-o", "out.csv", "--local"])).toEqual({
    code: 1,
    stderr: `repute: cannot read ${named}: permission denied\n  check the permissions of the file and its parent folders\n`,
  });
  expect((await readdir(folder)).toSorted()).toEqual(before);
  await chmod(join(folder, closed), 0o700);
});

test("an output in a read-only folder", async () => {
  const args = ["enrich", "in.csv", "--local", "-q", "-o", "closed/out.csv"];
  const { code, stderr } = await repute(await prepared(), args);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^repute: cannot write .*closed\/.*: permission denied\n {2}check the owner and permissions of the folder\n$/,
  );
});

test("a folder that becomes read-only during the run loses no answer", async () => {
  const folder = await prepared();
  const names = Array.from({ length: 120 }, (_, n) => `h${n}.example.com`);
  await writeFile(join(folder, "in.csv"), `domain\n${names.join("\n")}\n`);
  await chmod(join(folder, "closed"), 0o700);
  const server = await startAnsweringServer();
  const places = ["closed", "closed/out.csv.state"].map((name) => join(folder, name));
  server.onRequest = (total) => {
    if (total === 50) for (const place of places) chmodSync(place, 0o500);
    return true;
  };
  // One at a time: each request shows that the answer to the one before it has arrived.
  const pace = ["--rate", "9000/s", "--concurrency", "1"];
  const service = ["--intel-url", server.url, "--lookups", "query", ...pace, "--quiet"];
  const args = ["enrich", "in.csv", "-o", "closed/out.csv", ...service, "--resume"];
  for (let night = 0; night < 2; night++) {
    const { code, stderr } = await repute(folder, args);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^repute: cannot write .*closed\/.*: permission denied\n/),
    ]);
  }
  // The answer to this one may not have arrived when the run failed.
  const open = [...server.asked.keys()].at(-1);
  for (const place of places) await chmod(place, 0o700);
  expect(await repute(folder, args)).toEqual({ code: 0, stderr: "" });
  expect(server.asked.size).toBe(names.length);
  expect([...server.asked].filter(([key, times]) => times > 1 && key !== open)).toEqual([]);
});

test.each([
  ["Parquet", "closed/out.parquet"],
  ["a new DuckDB file", "duckdb:closed/out.duckdb?table=t"],
  ["a DuckDB file", "duckdb:t.duckdb?table=t"],
])("%s that cannot be written is refused before the first row", async (_, output) => {
  const folder = await prepared();
  const enrich = ["enrich", "in.csv", "--local", "-q", "--state-dir", "state"];
  const isThere = output.startsWith("duckdb:t.");
  const first = isThere ? await repute(folder, [...enrich, "-o", output]) : null;
  expect(first?.code ?? 0).toBe(0);
  if (isThere) await chmod(join(folder, "t.duckdb"), 0o400);
  const { code, stderr } = await repute(folder, [...enrich, "-o", output]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/permission denied/i)]);
  const left = await readdir(folder, { recursive: true });
  expect(left.filter((name) => name.endsWith("rows.part"))).toEqual([]);
});
