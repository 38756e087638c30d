import { madeUpOf } from "../core/manifest/manifest.js";
import { asObject } from "../core/json-members.js";
import { retrySuffix } from "../core/files/output-names.js";
import { UsageError } from "../core/errors.js";
import { openRows, openForm } from "../earlier/earlier-file.js";
import { type EarlierRow, outputReading } from "../earlier/earlier-row.js";
import type { OutputFile } from "../earlier/output-file.js";
import { mustHaveColumns, retriedColumns } from "../core/needed-columns.js";
import { mapLists } from "../formats/reading/lines.js";
import type { OpenedSource, SourcePosition } from "../inputs/types.js";
import { findWarehouse, type TableRows, type Warehouse } from "../outputs/registry.js";
import type { TableInput } from "../outputs/tables/types.js";
import type { FoundRows } from "../outputs/warehouse/saved-rows.js";
import { copyOnce, copyPath } from "../run/copy/copy-writer.js";
import { recordBase } from "../run/destination/check-paths.js";
import type { WarehouseOutputTarget } from "../run/destination/output-target.js";
import { runResumably } from "../run/execute.js";
import { findManifest, prefixOfOutput } from "../run/finish/manifest.js";
import type { RowHandling } from "../run/rows/row-handling.js";
import { readAnyCheckpoint } from "../run/state/checkpoint.js";
import { statePath } from "../run/state/state-files.js";
import type { Manifest } from "../core/manifest/manifest.js";
import type { EnrichJob } from "../run/types.js";
import { type RowsToRetry, retryStart } from "./retry-row.js";

/**
 * Looks up the failed and partial rows of one run in a table again and fills them in. Nothing
 * else changes.
 */
export async function retryTable(
  job: EnrichJob,
  warehouse: Warehouse & { readonly rows: TableRows },
  { run = null, prefix: asked }: RowsToRetry,
): Promise<Manifest> {
  const { target, rows } = warehouse;
  const { display } = target;
  const { output, run: howToRun } = job.settings;
  if (output.output !== "-" && findWarehouse(output.output)?.target.base !== target.base) {
    throw new UsageError(
      "retry_keeps_format",
      `the rows of ${display} are filled in where they are`,
      { hint: "leave out -o" },
    );
  }
  const { resume, stateDir } = howToRun;
  const base = recordBase(target, stateDir);
  const earlier = await findManifest(base);
  const prefix = prefixOfOutput(asked, earlier);
  const stateBase = base + retrySuffix;
  const saved = resume ? await readAnyCheckpoint(statePath(stateBase)) : null;
  const found = await rows.find({ prefix, runId: run ?? saved?.runId ?? null });
  mustHaveColumns(display, retriedColumns, found.optional);
  // The manifest of another run in the table stays.
  const isItsRun = earlier === null || earlier.run_id === found.runId;
  const place: WarehouseOutputTarget = {
    file: null,
    base: isItsRun ? base : stateBase,
    name: display,
    format: target.kind,
    gzip: false,
    warehouse: { ...warehouse, open: (options) => rows.fill(options) },
  };
  const input = await rows.input(found.toRetry());
  const handling = { ...tableRows({ ...input, name: display }, found, prefix) };
  // A limit protects an earlier output from being replaced; nothing is replaced here.
  const settings = {
    ...job.settings,
    output: { ...output, prefix },
    run: { ...howToRun, maxFailed: { percent: 100 } },
  };
  const madeUp = madeUpOf(isItsRun && earlier !== null ? earlier : {});
  return runResumably({ ...job, settings }, { ...handling, madeUp }, place, stateBase);
}

/** The rows of a table are copied first, as an output of flat NDJSON. */
function tableRows(table: TableInput, { runId, optional }: FoundRows, prefix: string): RowHandling {
  const { name, kind } = table;
  const form = { format: "ndjson", keepsNulls: false } as const;
  return {
    inputFormat: () => Promise.resolve("ndjson"),
    options: { retry: true, run: runId },
    runId,
    optional,
    partialsFromCache: false,
    open: () => Promise.reject(new TypeError("copy the rows first")),
    start: retryStart,
    copied: {
      sources: [],
      inFolder({ folder }) {
        const path = copyPath(folder, form.format);
        return {
          input: { path, copyOf: { name, kind } },
          open: async (resume) => ({ ...(await openCopy(path, prefix, resume)), kind }),
        };
      },
      make: (place, isResumed) =>
        copyOnce(table, { ...place, ...form, onNotice: undefined }, isResumed),
    },
  };
}

async function openCopy(
  path: string,
  prefix: string,
  resume: SourcePosition | null,
): Promise<OpenedSource> {
  const file: OutputFile = { path, format: "ndjson", gzip: false };
  const source = await openRows(file, await openForm(file, prefix), resume);
  const reading = outputReading(prefix);
  const fill = (row: EarlierRow): EarlierRow => ({
    ...row,
    // Rejected rows are a list of items.
    cells: [row.itemText],
    json: null,
    savedNumber: Number(asObject(JSON.parse(row.json ?? ""))?.[`${prefix}row`]),
  });
  return {
    ...source,
    columns: [`${prefix}item`],
    reading: { ...reading, items: [{ ...reading.items[0], index: 0 }] },
    rows: mapLists(source.rows as AsyncIterable<readonly EarlierRow[]>, fill),
  };
}
