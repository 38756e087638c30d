import { FatalError } from "../../../src/core/errors.js";
import { ndjsonEncoder } from "../../../src/io/formats/ndjson/ndjson.js";
import { writePart } from "../../../src/io/output/file-destination.js";
import { renamePart } from "../../../src/io/output/part-file.js";
import type { Publication, PublicationOptions } from "../../../src/io/output/publication.js";
import { type Stage, stageEncoder } from "../../../src/io/output/stage.js";
import type { WrittenOutput } from "../../../src/io/output/types.js";

/** Rows of one request. */
const mostRows = 1_000;

/** Checks that the collector is there, before the first lookup. */
export async function publishHttp(
  url: URL,
  name: string,
  { columns, prefix, runId, base, signal }: PublicationOptions,
): Promise<Publication> {
  await send(url, name, { method: "OPTIONS", signal: signal ?? null });
  const encoder = ndjsonEncoder({ columns, prefix, shape: "nested" });
  const failedPath = (suffix: string): string => `${base}${suffix}.ndjson`;
  return {
    encoder: stageEncoder((row) => [encoder.encode([row])]),
    // The collector gets all rows or, if the run has too many failures, none.
    takesParts: false,
    async prepare(stage, suffix): Promise<WrittenOutput> {
      await stage.verify();
      if (suffix === "") return { bytes: null, sha256: null, rows: stage.count };
      const written = await writePart(failedPath(suffix), async (file) => {
        for await (const text of bodies(stage)) await file.write(Buffer.from(text));
      });
      return { ...written, rows: stage.count };
    },
    async commit(stage, suffix) {
      if (suffix !== "") return renamePart(failedPath(suffix));
      let number = 0;
      for await (const body of bodies(stage)) {
        // A run that was killed sends its requests again: the collector tells them by the key.
        const headers = {
          "content-type": "application/x-ndjson",
          "idempotency-key": `${runId}-${++number}`,
        };
        await send(url, name, { method: "POST", headers, body, signal: signal ?? null });
      }
    },
  };
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
