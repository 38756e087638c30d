import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const samples = fileURLToPath(new URL("../../../samples/", import.meta.url));
const indicators = join(samples, "indicators.csv");
const rows = 24;

type Json = Readonly<Record<string, unknown>>;

/** Partial answers are asked for again after a while, which takes real time. */
const local = ["--local", "--quiet", "--fail-on", "never", "--partial-retries", "0"];

interface Shaped {
  /** Path of the output. */
  readonly out: string;
  readonly text: string;
  readonly manifest: { readonly output: Json; readonly statuses: Readonly<Record<string, number>> };
}

/** Enriches the sample indicators, or others, with the embedded service. */
async function shaped(
  to: string,
  { name = "out.json", input = indicators, flags = [] as readonly string[] } = {},
): Promise<Shaped> {
  const out = join(await temporaryFolder(), name);
  const args = ["enrich", input, "-o", out, "--to", to, ...local];
  const { code, stderr } = await runRepute([...args, ...flags]);
  expect([code, stderr]).toEqual([0, ""]);
  const bytes = await readFile(out);
  return {
    out,
    text: (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString(),
    manifest: JSON.parse(await readFile(`${out}.manifest.json`, "utf8")) as Shaped["manifest"],
  };
}

const linesOf = (text: string): readonly Json[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);

function bundleOf(text: string): readonly Json[] {
  return (JSON.parse(text) as { readonly objects: readonly Json[] }).objects;
}

test("enrich --to es-bulk writes pairs, which verify counts and report refuses", async () => {
  const { out, text, manifest } = await shaped("es-bulk");
  const lines = linesOf(text);
  const documents = lines.filter((_, n) => n % 2 === 1).map(({ repute }) => repute as Json);
  expect(documents.map((document) => document["row"])).toEqual(
    Array.from({ length: rows }, (_, n) => n + 1),
  );
  expect(manifest.output).toMatchObject({ format: "es-bulk", rows });
  for (const [status, count] of Object.entries(manifest.statuses)) {
    expect(documents.filter((document) => document["status"] === status)).toHaveLength(count);
  }
  const ids = lines.filter((_, n) => n % 2 === 0).map((line) => (line["index"] as Json)["_id"]);
  expect(new Set(ids).size).toBe(rows);
  const again = linesOf((await shaped("es-bulk")).text);
  expect(again.filter((_, n) => n % 2 === 0)).toEqual(lines.filter((_, n) => n % 2 === 0));
  const { code, stdout } = await runRepute(["verify", out]);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`${rows} rows`)]);
  await writeFile(out, text.replace('"status":"invalid"', '"status":"failed"'));
  const changed = await runRepute(["verify", out]);
  expect([changed.code, changed.stderr]).toEqual([
    1,
    expect.stringContaining("sha256: the manifest says"),
  ]);
  expect(await runRepute(["report", out])).toMatchObject({ code: 2 });
});

test("--es-action and --es-id choose the action and what has a document of its own", async () => {
  const input = join(await temporaryFolder(), "in.csv");
  await writeFile(input, "ip\n192.0.2.1\n192.0.2.1\n192.0.2.15\n");
  const flags = ["--es-action", "create", "--es-id", "item"];
  const lines = linesOf((await shaped("es-bulk", { input, flags })).text);
  const ids = lines.flatMap(({ create }) => (create === undefined ? [] : (create as Json)["_id"]));
  expect([ids.length, new Set(ids).size]).toEqual([3, 2]);
});

describe("enrich --to stix", () => {
  test("writes one bundle of the items with evidence against them", async () => {
    const { out, text, manifest } = await shaped("stix");
    const [identity, ...found] = bundleOf(text);
    expect(identity).toMatchObject({ type: "identity" });
    expect(found.length).toBeGreaterThan(5);
    expect(new Set(found.map(({ type }) => type))).toEqual(new Set(["indicator"]));
    expect(text).not.toContain("benign");
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    expect(manifest.output).toMatchObject({ format: "stix", rows, indicators: found.length });
    const { code, stdout } = await runRepute(["verify", out]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${found.length} indicators`)]);

    await writeFile(out, text.split("\n").toSpliced(2, 1).join("\n"));
    const changed = await runRepute(["verify", out]);
    expect([changed.code, changed.stdout]).toEqual([1, ""]);
    expect(changed.stderr).toContain("sha256: the manifest says");
    const again = await shaped("stix");
    expect(bundleOf(again.text).map(({ id }) => id)).toEqual(bundleOf(text).map(({ id }) => id));
    expect(again.text).not.toBe(text);
  });

  test("is a complete bundle when compressed, on stdout, and without anything known", async () => {
    const { out, text } = await shaped("stix", { name: "out.json.gz" });
    expect(bundleOf(text).length).toBeGreaterThan(5);
    expect(await runRepute(["verify", out])).toMatchObject({ code: 0 });
    const args = ["enrich", "--to", "stix", ...local];
    const { stdout } = await runRepute(args, { stdin: await readFile(indicators) });
    expect(bundleOf(stdout).map(({ id }) => id)).toEqual(bundleOf(text).map(({ id }) => id));
    expect(bundleOf((await runRepute(args, { stdin: "ip\n" })).stdout)).toHaveLength(1);
    const input = join(await temporaryFolder(), "in.csv");
    await writeFile(input, "domain\nnever-heard-of.example.org\nsetup.exe\n");
    const bare = await shaped("stix", { input });
    expect(bundleOf(bare.text)).toHaveLength(1);
    expect(bare.manifest.output).toMatchObject({ rows: 2, indicators: 0 });
    expect(await runRepute(["verify", bare.out])).toMatchObject({ code: 0 });
  });
});

test.each([
  ["es-bulk", "out.csv", []],
  ["es-bulk", "out.json.gz", []],
  ["stix", "out.json", []],
  ["stix", "out.csv", ["--to", "stix"]],
])("recognises %s in %s under any name, and retry refuses it", async (...given) => {
  const [to, name, flags] = given;
  const { out, manifest } = await shaped(to, { name });
  expect(manifest.output["format"]).toBe(to);
  const args = ["retry", out, "-o", join(out, "..", `again.${name}`), "--local", ...flags];
  const { code, stderr } = await runRepute(args);
  expect(code).toBe(2);
  expect(stderr).toContain("has the shape of a security platform");
  expect(stderr).toContain("--cache");
});
