import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { FatalError } from "../../../../src/core/errors.js";
import { formats } from "../../../../src/io/formats/registry.js";
import { streamDestination } from "../../../../src/io/output/part-file.js";
import { type Sink, textSink } from "../../../../src/io/output/text/text-sink.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { openRun, someRows } from "./publishing.js";

it("reports a missing folder", async () => {
  const folder = await temporaryFolder();
  await expect(openRun(join(folder, "absent", "out.csv"), folder)).rejects.toThrow(FatalError);
});

describe("a stream as output", () => {
  it("writes rows as they come", async () => {
    const stream = new PassThrough();
    const sink = await openStream(stream);
    await sink.write(someRows(1, 2));
    expect(String(stream.read()).split("\n")).toHaveLength(4);
    await sink.close();
  });

  it("waits for a slow reader", async () => {
    const stream = new PassThrough({ highWaterMark: 16 });
    const sink = await openStream(stream);
    let taken = false;
    const writing = sink
      .write(someRows(1, 50))
      .then(() => sink.write(someRows(51, 100)))
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
    await expect(sink.write(someRows(1, 1))).rejects.toMatchObject({ code: "output_closed" });
  });
});

const encoder = { columns: ["ip"], prefix: "rep_", shape: "flat" } as const;

async function openStream(stdout: PassThrough): Promise<Sink> {
  const destination = streamDestination(stdout, "stdout");
  return textSink(formats.csv.write(encoder), destination, { gzip: false, resumeRows: null });
}
