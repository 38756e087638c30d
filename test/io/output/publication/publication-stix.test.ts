import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { streamDestination } from "../../../../src/io/output/part-file.js";
import { openRun } from "./publishing.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

describe("a bundle", () => {
  it.each([false, true])("appears with each indicator once, compressed: %s", async (gzip) => {
    const { folder, file } = await aPlace();
    const { sink } = await openRun(file, folder, { text: { ...bundle, gzip } });
    await sink.write([...accused(1, 3), harmless(4)]);
    await sink.write([...accused(2, 5), ...accused(1, 1)]);
    await sink.checkpoint();
    expect(await readdir(folder)).toEqual(["state"]);
    await sink.publish(".failed");
    expect(await namesIn(`${file}.failed`, gzip)).toEqual(names(1, 5));
    const written = await sink.publish();
    expect(written).toEqual({
      bytes: expect.any(Number),
      sha256: expect.any(String),
      indicators: 5,
    });
    expect(await namesIn(file, gzip)).toEqual(names(1, 5));
    expect((await readFile(file)).length).toBe(written.bytes);
    // As after a kill: an object may have these bytes already.
    expect(await sink.publish()).toEqual(written);
  });

  it("has an item once that occurs before and after an interruption", async () => {
    const { folder, file } = await aPlace();
    const first = await openRun(file, folder);
    await first.sink.write(accused(1, 700));
    const position = await first.sink.checkpoint();
    await first.sink.write(accused(701, 900));
    await first.sink.checkpoint();
    await first.sink.abandon();
    expect(await readdir(folder)).toEqual(["state"]);
    const second = await openRun(file, folder, {}, position);
    await second.sink.write(accused(650, 720));
    expect(await second.sink.publish()).toMatchObject({ indicators: 720 });
    expect(await namesIn(file)).toEqual(names(1, 720));
  });
});

describe("a bundle on a stream", () => {
  it("ends if the reader has closed it", async () => {
    const { folder } = await aPlace();
    const stdout = new PassThrough();
    const openStream = async () => streamDestination(stdout, "stdout");
    const to = { file: null, base: null, text: { ...bundle, gzip: false, openStream } };
    const { sink } = await openRun("-", folder, to);
    await sink.write(accused(1, 3));
    stdout.destroy();
    await expect(sink.publish()).rejects.toMatchObject({ code: "output_closed" });
    await sink.abandon();
  });
});

async function aPlace(): Promise<{ folder: string; file: string }> {
  const folder = await temporaryFolder();
  return { folder, file: join(folder, "out.stix") };
}

const bundle = { format: "stix", openStream: () => expect.unreachable() } as const;

/** Rows whose items become indicators. */
function accused(from: number, to: number): readonly EnrichedRow[] {
  return names(from, to).map((value, index) =>
    anEnrichedRow(
      { number: from + index },
      { query: { intent: "malicious" } },
      { kind: "ip", value },
    ),
  );
}

function harmless(number: number): EnrichedRow {
  return anEnrichedRow({ number }, { query: { intent: "none" } });
}

function names(from: number, to: number): readonly string[] {
  return Array.from(
    { length: to - from + 1 },
    (_, index) => `192.0.${2 + Math.floor((from + index) / 250)}.${(from + index) % 250}`,
  );
}

/** Names of the indicators. */
async function namesIn(file: string, gzip = false): Promise<readonly string[]> {
  const bytes = await readFile(file);
  const text = (gzip ? gunzipSync(bytes) : bytes).toString();
  const { objects } = JSON.parse(text) as { objects: { type: string; name: string }[] };
  return objects.filter(({ type }) => type === "indicator").map(({ name }) => name);
}
