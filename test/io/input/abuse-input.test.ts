import { createHash } from "node:crypto";
import { appendFile, readdir, truncate } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { workspace, type Workspace } from "../../helpers/workspace.js";

/** Random-looking bytes, the same every time. */
function junk(length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let n = 0; n * 64 < length; n++) blocks.push(createHash("sha512").update(`${n}`).digest());
  return Buffer.concat(blocks).subarray(0, length);
}

/** Runs `enrich` on an unusable input, and returns its error messages. */
async function refused({ cwd, run }: Workspace, name: string, args: readonly string[] = []) {
  const result = await run("enrich", name, "-o", "out.csv", "--local", ...args);
  expect(result.stdout).toBe("");
  expect(result.stderr).toMatch(/^repute: /);
  expect(result.stderr).not.toMatch(/^ +at /m);
  expect(await readdir(cwd)).not.toContain("out.csv");
  return result;
}

describe("reports an unusable input in one line with advice", () => {
  test.each([
    ["a missing column", ["--item-column", "srcip"], /Did you mean "src_ip"\?/],
    ["two columns with indicators", [], /"src_ip" {2}100%[^]*--item-column/],
  ])("%s", async (_, flags, message) => {
    const place = await workspace({ "in.csv": "src_ip,dst_ip\n192.0.2.1,192.0.2.2\n" });
    const { code, stderr } = await refused(place, "in.csv", flags);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  test.each([
    ["an absent file", "nothing.csv", /^repute: there is no file nothing\.csv\n/],
    ["a file in an absent folder", "none/in.csv", /^repute: there is no file none\/in\.csv\n/],
    ["a folder without inputs", "folder", /^repute: folder has no file of a known format\n/],
  ])("%s", async (_, name, message) => {
    const place = await workspace({ "folder/none": "" });
    const { code, stderr } = await refused(place, name);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
    expect(await readdir(place.cwd)).toEqual(["folder"]);
  });

  test.each([
    ["in.ndjson", '{"item":"192.0.2.1"}\n', [], "read as JSON"],
    ["in.json", '[{"item":"192.0.2.1"}]', [], "read as JSON"],
    ["in.txt", "192.0.2.1\n", ["--from", "text"], "read as text, one item a line"],
  ])("a delimiter for an input without cells: %s", async (name, text, flags, message) => {
    const place = await workspace({ [name]: text });
    const { code, stderr } = await refused(place, name, ["--delimiter", "|", ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("truncated gzip", async () => {
    const bytes = Buffer.from("\x1f\x8b\x08\0\0\0\0\0", "latin1");
    const place = await workspace({ "in.csv.gz": bytes });
    const { code, stderr } = await refused(place, "in.csv.gz");
    expect(code).toBe(1);
    expect(stderr).toMatch(/^repute: in\.csv\.gz is truncated/);
  });

  test.each([
    ["in.csv", "id,ip\n1,192.0.2.1\n2,", "the record on line 3 of in.csv is longer"],
    ["in.csv", 'id,ip\n1,192.0.2.1\n2,"', "line 3 of in.csv: the quote opened here isn't closed"],
    ["in.txt", "192.0.2.1\n", "line 2 of in.txt is longer than the limit of 16 MiB"],
    ["in.ndjson", '{"ip":"192.0.2.1"}\n{"ip":"', "line 2 of in.ndjson is longer"],
  ])("a line of 100 MB: %s %j", async (name, beginning, message) => {
    const place = await workspace({ [name]: beginning });
    // A hole in the file: zeros that take no space.
    await truncate(place.at(name), 100_000_000);
    await appendFile(place.at(name), "\n192.0.2.3\n");
    const { code, stderr } = await refused(place, name);
    expect([code, stderr.startsWith(`repute: ${message}`)]).toEqual([1, true]);
  });

  test.each(["in.csv", "in.txt", "in.ndjson"])("binary junk: %s", async (name) => {
    const { code, stderr } = await refused(await workspace({ [name]: junk(300_000) }), name);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^repute: in\.\w+ is binary data; repute reads CSV.*\n {2}convert it/);
  });
});
