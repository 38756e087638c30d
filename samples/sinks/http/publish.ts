import { FatalError } from "../../../src/core/errors.js";
import { ndjsonEncoder } from "../../../src/io/formats/ndjson/ndjson-output.js";
import { renamePart, writePart } from "../../../src/io/output/part-file.js";
import {
  describer,
  type Publisher,
  type PublisherOptions,
  type WrittenOutput,
} from "../../../src/io/output/publisher.js";
import { type Stage, stageEncoder } from "../../../src/io/output/stage.js";

/** Rows of one request. */
const mostRows = 1_000;

/** Posts rows to a collector. */
export function httpPublisher(url: URL, name: string, options: PublisherOptions): Publisher {
  const { columns, prefix, runId, signal } = options;
  const within = { signal: signal ?? null };
  // The collector gets all rows or, if the run has too many failures, none.
  const describe = describer(options, { format: "http" });
  return {
    describe,
    async check() {
      await send(url, name, { method: "OPTIONS", ...within });
      const encoder = ndjsonEncoder({ columns, prefix, shape: "nested" });
      return { encoder: stageEncoder((row) => [encoder.encode([row])]) };
    },
    async publish(stage, { suffix }): Promise<WrittenOutput> {
      if (suffix !== "") return keepFailed(stage, describe(suffix).base!);
      let number = 0;
      for await (const body of bodies(stage)) {
        // A run that was killed sends its requests again: the collector tells them by the key.
        const headers = {
          "content-type": "application/x-ndjson",
          "idempotency-key": `${runId}-${++number}`,
        };
        await send(url, name, { method: "POST", headers, body, ...within });
      }
      return { bytes: null, sha256: null, rows: stage.count };
    },
  };
}

async function keepFailed(stage: Stage, path: string): Promise<WrittenOutput> {
  const written = await writePart(path, async (file) => {
    for await (const text of bodies(stage)) await file.write(Buffer.from(text));
  });
  await renamePart(path);
  return { ...written, rows: stage.count };
}

/** The rows of each request, the same whenever they are read. */
async function* bodies(stage: Stage): AsyncGenerator<string> {
  let waiting: string[] = [];
  for await (const rows of stage.rows()) {
    for (const [text] of rows) {
      waiting.push(text as string);
      if (waiting.length < mostRows) continue;
      yield waiting.join("");
      waiting = [];
    }
  }
  if (waiting.length > 0) yield waiting.join("");
}

async function send(url: URL, name: string, request: RequestInit): Promise<void> {
  const fault = (said: string, cause?: unknown): FatalError =>
    new FatalError("output_unwritable", `cannot write to ${name}: ${said}`, {
      cause,
      hint: "check the address and the collector, then continue with --resume",
    });
  const response = await fetch(url, request).catch((error: unknown) => {
    throw fault((error as Error).message, error);
  });
  await response.arrayBuffer();
  if (!response.ok) throw fault(`HTTP ${response.status}`);
}
