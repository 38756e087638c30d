import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../docs/pages.js";
import { workspace } from "../helpers/workspace.js";

/** Enriches a sample against the embedded service. */
async function enriched(name: string, ...args: readonly string[]) {
  const place = await workspace({ [name]: await readFile(join(root, "samples", name)) });
  const result = await place.run("enrich", name, "--local", ...args);
  expect(result).toMatchObject({ code: 0, stdout: "" });
  return place;
}

test("indicators.csv shows every kind, and every status but a failure", async () => {
  const { records } = await enriched("indicators.csv", "-o", "out.csv");
  const rows = await records();
  const input = await records("indicators.csv");
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
  const flags = ["-o", "out.ndjson", "--item-column", "event.source.ip"];
  const { read } = await enriched("events.ndjson", ...flags);
  const lines = (await read("out.ndjson")).trimEnd().split("\n");
  const input = (await read("events.ndjson")).trimEnd().split("\n");
  expect(lines.map((line) => line.slice(0, line.indexOf(',"rep":')))).toEqual(
    input.map((line) => line.slice(0, -1)),
  );
  expect(lines.map((line) => (JSON.parse(line) as { rep: { status: string } }).rep.status)).toEqual(
    ["complete", "complete", "complete", "complete", "complete", "unsupported"],
  );
});

test("watchlist.txt has one item per line", async () => {
  const { records } = await enriched("watchlist.txt", "-o", "out.csv");
  expect((await records()).map((row) => [row["rep_kind"], row["rep_item"]])).toEqual([
    ["ip", "192.0.2.66"],
    ["url", "https://downloads.example.net/setup.exe"],
    ["domain", "parked.example.org"],
    ["email", "abuse@example.com"],
    ["sha1", "da39a3ee5e6b4b0d3255bfef95601890afd80709"],
    ["crypto_wallet", "LKDxGDJq5fF4FohAB8zJH24mDDNHDNtqsE"],
    ["ip", "203.0.113.40"],
  ]);
});
