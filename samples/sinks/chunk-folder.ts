import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ndjsonEncoder } from "../../src/formats/ndjson/ndjson-writer.js";
import { outputFault } from "../../src/outputs/output-fault.js";
import type { Encoder } from "../../src/formats/types.js";
import type { Sink } from "../../src/outputs/types.js";
import { addedMemberName } from "../../src/formats/added-names.js";
import { auditCounts, type OutcomeCount } from "../../src/outputs/warehouse/run-rows.js";
import type {
  WarehouseAudit,
  WarehouseKind,
  WarehouseTarget,
} from "../../src/outputs/warehouse/types.js";

// A custom sink: `-o chunks:FOLDER` writes the rows as NDJSON files of a few thousand rows each,
// which appear by rename, for loaders that watch a folder. In `src/outputs` it takes only this file
// and one line in `src/outputs/registry.ts`, which docs/contributing.md shows.

/** A chunk ends after this many rows, and at every checkpoint. */
const mostRows = 20_000;

interface ChunkTarget extends WarehouseTarget {
  readonly folder: string;
}

/** A folder of NDJSON chunks. */
export const chunkFolder: WarehouseKind<ChunkTarget> = {
  parse(output) {
    if (!output.startsWith("chunks:")) return null;
    const folder = resolve(output.slice("chunks:".length));
    return { kind: "chunks", folder, display: output, file: null, base: folder };
  },

  async open({ folder, display }, { columns, prefix, runId, resume }) {
    const shape = "nested";
    const encoder = ndjsonEncoder({ columns, prefix, shape, formulaGuard: false });
    await mkdir(folder, { recursive: true }).catch((error: unknown) => {
      throw outputFault(folder, error);
    });
    const rows = resume?.rows ?? 0;
    // Rows after the checkpoint will be written again.
    await removeChunks(folder, runId, rows);
    return {
      // A folder stores no checkpoint, so the one in the state folder is the newest.
      note: null,
      rows,
      sink: chunkSink({ folder, runId, encoder, rows }),
      audit: () => countChunks({ folder, display, runId, prefix }),
    };
  },

  discard: ({ folder }, { runId }) => removeChunks(folder, runId, 0),

  recount: ({ folder, display }, run) => countChunks({ folder, display, ...run }),
};

interface ChunkSinkOptions {
  readonly folder: string;
  readonly runId: string;
  readonly encoder: Encoder;
  /** Rows already in the folder. */
  readonly rows: number;
}

function chunkSink({ folder, runId, encoder, rows: before }: ChunkSinkOptions): Sink {
  let rows = before;
  let bytes = 0;
  let pending = { text: "", rows: 0 };

  const endChunk = async (): Promise<void> => {
    if (pending.rows === 0) return;
    const content = Buffer.from(pending.text);
    await writeChunk(join(folder, chunkName(runId, rows - pending.rows + 1)), content);
    bytes += content.length;
    pending = { text: "", rows: 0 };
  };

  return {
    async write(batch) {
      pending.text += encoder.encode(batch);
      pending.rows += batch.length;
      rows += batch.length;
      if (pending.rows >= mostRows) await endChunk();
    },
    async checkpoint() {
      await endChunk();
      return { length: rows, rows };
    },
    async finish() {
      await endChunk();
      return { path: folder, bytes, rows };
    },
    abandon: () => Promise.resolve(),
  };
}

/** `RUN-000000001.ndjson`: the run, and the number of the chunk's first row. */
function chunkName(runId: string, firstRow: number): string {
  return `${runId}-${String(firstRow).padStart(9, "0")}.ndjson`;
}

async function writeChunk(path: string, content: Buffer): Promise<void> {
  try {
    const file = await open(`${path}.part`, "w");
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.part`, path);
  } catch (error) {
    throw outputFault(path, error);
  }
}

/** The chunks of a run in row order; empty if the folder does not exist. */
async function chunksOf(folder: string, runId: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.startsWith(`${runId}-`)).sort();
}

/** Removes the chunks of a run that start after this many rows. */
async function removeChunks(folder: string, runId: string, rows: number): Promise<void> {
  const last = chunkName(runId, rows);
  for (const name of await chunksOf(folder, runId)) {
    if (name > last) await rm(join(folder, name));
  }
}

async function countChunks({
  folder,
  display,
  runId,
  prefix,
}: {
  readonly folder: string;
  readonly display: string;
  readonly runId: string;
  readonly prefix: string;
}): Promise<WarehouseAudit> {
  const member = addedMemberName(prefix, []);
  const counts = new Map<string, OutcomeCount>();
  for (const name of await chunksOf(folder, runId)) {
    const text = await readFile(join(folder, name), "utf8");
    for (const line of text.trimEnd().split("\n")) {
      const row = JSON.parse(line) as Readonly<Record<string, Partial<OutcomeCount>>>;
      const { status = null, verdict = null } = row[member] ?? {};
      const key = JSON.stringify([status, verdict]);
      counts.set(key, { status, verdict, rows: (counts.get(key)?.rows ?? 0) + 1 });
    }
  }
  return auditCounts([...counts.values()], display);
}
