import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const samples = fileURLToPath(new URL("../../samples/", import.meta.url));

/** Enriches a sample against the embedded service; resolves to the output's text. */
async function enriched(name: string, output: string, args: readonly string[] = []) {
  const out = join(await temporaryFolder(), output);
  const result = await runRepute(["enrich", join(samples, name), "-o", out, "--local", ...args]);
  expect(result).toMatchObject({ code: 0, stdout: "" });
  return readFile(out, "utf8");
}

test("indicators.csv shows every kind, and every status but a failure", async () => {
  const text = await enriched("indicators.csv", "out.csv");
  const rows: Record<string, string>[] = parse(text, { columns: true });
  const input: Record<string, string>[] = parse(
    await readFile(join(samples, "indicators.csv"), "utf8"),
    { columns: true },
  );
  expect(rows.map(({ seen, indicator, note }) => ({ seen, indicator, note }))).toEqual(input);
  expect(new Set(rows.map((row) => row["rep_kind"]))).toEqual(
    new Set(["ip", "domain", "url", "sha1", "crypto_wallet", "email", ""]),
  );
  expect(new Set(rows.map((row) => row["rep_status"]))).toEqual(
    new Set(["complete", "partial", "invalid", "unsupported"]),
  );
  expect(rows.filter((row) => row["rep_source"] === "duplicate").length).toBeGreaterThan(1);
  expect(rows.filter((row) => row["rep_bogon"] === "true").length).toBeGreaterThan(0);
});

test("events.ndjson is enriched by a nested member, with digits and order kept", async () => {
  const text = await enriched("events.ndjson", "out.ndjson", ["--item-column", "event.source.ip"]);
  const lines = text.trimEnd().split("\n");
  const input = (await readFile(join(samples, "events.ndjson"), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => line.slice(0, line.indexOf(',"rep":')))).toEqual(
    input.map((line) => line.slice(0, -1)),
  );
  expect(lines.map((line) => (JSON.parse(line) as { rep: { status: string } }).rep.status)).toEqual(
    ["complete", "complete", "complete", "complete", "complete", "unsupported"],
  );
});

test("watchlist.txt has one item per line", async () => {
  const text = await enriched("watchlist.txt", "out.csv");
  const rows: Record<string, string>[] = parse(text, { columns: true });
  expect(rows.map((row) => [row["rep_kind"], row["rep_item"]])).toEqual([
    ["ip", "192.0.2.66"],
    ["url", "https://downloads.example.net/setup.exe"],
    ["domain", "parked.example.org"],
    ["email", "abuse@example.com"],
    ["sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
    ["crypto_wallet", "LKDxGDJq5fF4FohAB8zJH24mDDNHDNtqsE"],
    ["ip", "203.0.113.40"],
  ]);
});
