import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { FatalError } from "../../../../src/core/errors.js";
import { formats } from "../../../../src/io/formats/registry.js";
import { openFileDestination, streamDestination } from "../../../../src/io/output/part-file.js";
import { stageUpTo } from "../../../../src/io/output/stage.js";
import { textPublisher, textSink } from "../../../../src/io/output/text/text-sink.js";
import { noManifest, type StagedSink } from "./publishing.js";
import type { Sink, SinkPosition } from "../../../../src/io/output/types.js";
import { type SinkFormat, sinkFormats } from "../../../../src/io/formats/types.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const variants: readonly { readonly format: SinkFormat; readonly gzip: boolean; name: string }[] = [
  ...sinkFormats
    // A bundle is made from staged rows.
    .filter((format) => format !== "stix")
    .map((format) => ({ format, gzip: false, name: format })),
  // Compression does not depend on the format.
  { format: "csv", gzip: true, name: "csv.gz" },
];

describe.each(variants)("every file sink keeps the contract: $name", ({ format, gzip }) => {
  const perRow = format === "es-bulk" ? 2 : 1;
  const headers = format === "csv" || format === "tsv" ? 1 : 0;

  it("shows nothing before it is published, and after an interruption the same rows", async () => {
    const whole = await open(format, gzip);
    await whole.sink.write(rows(1, 20));
    await whole.sink.publish();

    const first = await open(format, gzip);
    await first.sink.write(rows(1, 7));
    const position = await first.sink.checkpoint();
    await first.sink.write(rows(8, 9));
    await first.sink.checkpoint();
    await first.sink.abandon();
    const second = await open(format, gzip, position, first.target);
    await second.sink.write(rows(8, 20));
    expect(existsSync(first.target)).toBe(false);
    await second.sink.publish();
    const text = await textOf(first.target, gzip);
    expect(text).toHaveLength(20 * perRow + headers);
    expect(text).toEqual(await textOf(whole.target, gzip));
  });

  it("writes a readable file without rows", async () => {
    const { sink, target } = await open(format, gzip);
    await sink.checkpoint();
    await sink.publish();
    expect(await textOf(target, gzip)).toHaveLength(headers);
  });
});

it("reports a missing folder", async () => {
  const target = join(await temporaryFolder(), "absent", "out");
  await expect(open("csv", false, null, target)).rejects.toThrow(FatalError);
});

describe("a stream as output", () => {
  it("writes rows as they come", async () => {
    const stream = new PassThrough();
    const sink = await openStream(stream);
    await sink.write(rows(1, 2));
    expect(String(stream.read()).split("\n")).toHaveLength(4);
    await sink.close();
  });

  it("waits for a slow reader", async () => {
    const stream = new PassThrough({ highWaterMark: 16 });
    const sink = await openStream(stream);
    let taken = false;
    const writing = sink
      .write(rows(1, 50))
      .then(() => sink.write(rows(51, 100)))
      .then(() => {
        taken = true;
      });
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(false);
    stream.resume();
    await writing;
    expect(taken).toBe(true);
  });

  it("reports that the reader has closed it", async () => {
    const stream = new PassThrough();
    const sink = await openStream(stream);
    stream.destroy();
    await expect(sink.write(rows(1, 1))).rejects.toMatchObject({ code: "output_closed" });
  });
});

const encoder = { columns: ["ip"], prefix: "rep_", shape: "flat" } as const;

async function openStream(stdout: PassThrough): Promise<Sink> {
  const destination = streamDestination(stdout, "stdout");
  return textSink(formats.csv.write(encoder), destination, { gzip: false, resumeRows: null });
}

async function open(
  format: SinkFormat,
  gzip: boolean,
  startAt: SinkPosition | null = null,
  path?: string,
): Promise<{ readonly sink: StagedSink; readonly target: string }> {
  const target = path ?? join(await temporaryFolder(), `out.${format}`);
  const shape = format === "ndjson" ? "nested" : "flat";
  const publisher = textPublisher(target, () => formats[format].write({ ...encoder, shape }));
  const checked = await publisher.check();
  const destination = await openFileDestination(target, startAt);
  const resumeRows = startAt?.rows ?? null;
  const sink = textSink(checked.encoder, destination, { gzip, resumeRows });
  const publish = async () => {
    const position = await sink.checkpoint();
    await sink.close();
    const stage = stageUpTo(target, position);
    const written = await publisher.publish(stage, noManifest);
    // As after a kill.
    expect(await publisher.publish(stage, noManifest)).toEqual(written);
    return written;
  };
  return { sink: { ...sink, publish }, target };
}

function rows(from: number, to: number): ReturnType<typeof anEnrichedRow>[] {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const value = `192.0.2.${from + index}`;
    const query = { intent: "malicious" };
    return anEnrichedRow(
      { number: from + index, cells: [value] },
      { query },
      { kind: "ip", value },
    );
  });
}

async function textOf(path: string, gzip: boolean): Promise<string[]> {
  const bytes = await readFile(path);
  const text = (gzip ? gunzipSync(bytes) : bytes).toString();
  return text.split("\n").slice(0, -1);
}
