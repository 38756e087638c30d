import { mkdir, readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { addedMemberName } from "../../src/formats/added-names.js";
import { ndjsonEncoder } from "../../src/formats/ndjson/ndjson-writer.js";
import { openFileDestination } from "../../src/outputs/file-destination.js";
import type { Audit } from "../../src/outputs/audit-output.js";
import { outputFault } from "../../src/outputs/output-fault.js";
import type { Publication, PublicationOptions } from "../../src/outputs/publication.js";
import type { FindWarehouse } from "../../src/outputs/registry.js";
import { type Stage, stageEncoder } from "../../src/outputs/stage.js";
import type { Destination } from "../../src/outputs/types.js";
import { auditCounts, type OutcomeCount } from "../../src/outputs/warehouse/run-rows.js";

// A custom output: `-o chunks:FOLDER` writes the rows as NDJSON files of some thousand rows each,
// which appear by rename, for loaders that watch a folder. In `src/outputs` it takes only this file
// and one line in `src/outputs/registry.ts`, which docs/contributing.md shows.

/** A chunk ends with the batch that has this row. */
const mostRows = 20_000;

/** A folder of NDJSON chunks. */
export const chunkFolder: FindWarehouse = (output) => {
  if (!output.startsWith("chunks:")) return null;
  const folder = resolve(output.slice("chunks:".length));
  return {
    target: { kind: "chunks", display: output, file: null, base: folder },
    open: (options) => Promise.resolve(publishChunks(folder, options)),
    recount: ({ runId, prefix }) => countRows(textsOf(folder, runId), prefix),
    // Its rows are neither compared with others nor filled in.
    rows: () => Promise.resolve(null),
    fill: null,
  };
};

function publishChunks(
  folder: string,
  { columns, prefix, runId, base }: PublicationOptions,
): Publication {
  const encoder = ndjsonEncoder({ columns, prefix, shape: "nested", formulaGuard: false });
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

/** The lines in the chunks of a run; none if the folder does not exist. */
async function* textsOf(folder: string, runId: string): AsyncGenerator<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(`${runId}-`))) {
    yield (await readFile(join(folder, name), "utf8")).trimEnd().split("\n");
  }
}

async function countRows(texts: AsyncIterable<readonly string[]>, prefix: string): Promise<Audit> {
  const member = addedMemberName(prefix, []);
  const counts: OutcomeCount[] = [];
  for await (const lines of texts) {
    for (const line of lines) {
      const row = JSON.parse(line) as Readonly<Record<string, Partial<OutcomeCount>>>;
      const { status = null, verdict = null } = row[member] ?? {};
      counts.push({ status, verdict, rows: 1 });
    }
  }
  return auditCounts(counts, "the chunks");
}
