import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { FatalError } from "../../src/core/errors.js";
import { RowCounter } from "../../src/core/row.js";
import { addedMemberName } from "../../src/io/formats/added-names.js";
import { ndjsonEncoder } from "../../src/io/formats/ndjson/ndjson-writer.js";
import { openFileDestination } from "../../src/io/output/file-destination.js";
import { outputFault } from "../../src/io/output/output-fault.js";
import type { Publication, PublicationOptions } from "../../src/io/output/publication.js";
import type { FindWarehouse } from "../../src/io/output/registry.js";
import { type Stage, stageEncoder } from "../../src/io/output/stage.js";
import type { Destination, WrittenOutput } from "../../src/io/output/types.js";

// A custom output: `-o chunks:FOLDER` writes the rows as NDJSON files of some thousand rows each,
// which appear by rename, for loaders that watch a folder. In `src/io/output` it takes only this file
// and one line in `src/io/output/registry.ts`, which docs/contributing.md shows.

/** A chunk ends with the batch that has this row. */
const mostRows = 20_000;

/** A folder of NDJSON chunks. */
export const chunkFolder: FindWarehouse = (output) => {
  if (!output.startsWith("chunks:")) return null;
  const folder = resolve(output.slice("chunks:".length));
  return {
    target: { kind: "chunks", display: output, file: null, base: folder },
    open: (options) => Promise.resolve(publishChunks(folder, options)),
    // Not a table: its rows are neither read back nor filled in.
    rows: null,
  };
};

function publishChunks(
  folder: string,
  { columns, prefix, runId, base }: PublicationOptions,
): Publication {
  const encoder = ndjsonEncoder({ columns, prefix, shape: "nested" });
  return {
    encoder: stageEncoder((row) => [encoder.encode([row])]),
    columns: [{ type: "text" }],
    // A loader may take a chunk away at once, so that all of them appear when the run ends.
    takesParts: false,
    prepare: (stage) => countRows(stagedTexts(stage), prefix),
    async commit(stage, suffix) {
      await mkdir(folder, { recursive: true }).catch((error: unknown) => {
        throw outputFault(folder, error);
      });
      // The rows of a run with too many failures become one file beside the folder.
      const pathOf = (first: number): string =>
        suffix === "" ? join(folder, chunkName(runId, first)) : `${base}${suffix}.ndjson`;
      let chunk: Destination | null = null;
      let first = 1;
      let rows = 0;
      for await (const batch of stagedTexts(stage)) {
        chunk ??= await openFileDestination(pathOf(first), null);
        await chunk.write(Buffer.from(batch.join("")));
        rows += batch.length;
        if (suffix !== "" || rows - first < mostRows) continue;
        await chunk.finish();
        chunk = null;
        first = rows + 1;
      }
      await chunk?.finish();
    },
  };
}

/** `RUN-000000001.ndjson`: the run, and the number of the chunk's first row. */
function chunkName(runId: string, firstRow: number): string {
  return `${runId}-${String(firstRow).padStart(9, "0")}.ndjson`;
}

/** The lines of a run, as they were encoded. */
async function* stagedTexts(stage: Stage): AsyncGenerator<readonly string[]> {
  for await (const rows of stage.rows()) yield rows.map(([text]) => text as string);
}

async function countRows(
  texts: AsyncIterable<readonly string[]>,
  prefix: string,
): Promise<WrittenOutput> {
  const member = addedMemberName(prefix, []);
  const counter = new RowCounter();
  for await (const lines of texts) {
    for (const line of lines) {
      const row = JSON.parse(line) as Readonly<Record<string, Record<string, string | null>>>;
      const { status, verdict = null } = row[member] ?? {};
      const fault = counter.count(status, verdict);
      if (fault !== null) throw new FatalError("output_corrupt", `the staged rows have ${fault}`);
    }
  }
  return { ...counter.found(), bytes: null, sha256: null };
}
