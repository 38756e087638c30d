import { decodeBytes } from "../core/bytes.js";
import { FatalError } from "../core/errors.js";
import type { JsonObject } from "../core/finding.js";
import { splitLines } from "../formats/record-splitter.js";
import type { EarlierRecord } from "../formats/types.js";
import { openInput } from "../inputs/open-input.js";
import type { OpenedSource, SourceInput, SourcePosition } from "../inputs/types.js";
import type { TableInput } from "../outputs/tables/types.js";
import type { FoundRows } from "../outputs/warehouse/fill-rows.js";
import type { TableFill, Warehouse } from "../outputs/registry.js";
import { copyOnce, copyPath } from "../run/copy/copied-table.js";
import { findManifest } from "../run/finish/manifest.js";
import { runResumably } from "../run/execute.js";
import { readAnyCheckpoint } from "../run/state/read-checkpoint.js";
import { recordBase } from "../run/destination/check-paths.js";
import { statePath } from "../run/state/state-folder.js";
import type { EnrichJob, Manifest } from "../run/types.js";
import { earlierFinding, earlierItem, type EarlierRow } from "./earlier-record.js";
import { retryStart } from "./retry-start.js";
import type { RowHandling, CopiedInput, CopyPlace } from "../run/rows/row-handling.js";
import type { WarehouseOutputTarget } from "../run/destination/output-target.js";
import { retrySuffix } from "../core/files/output-names.js";

/**
 * Looks up the failed and partial rows of one run in a table again and fills them in. Nothing
 * else changes.
 *
 * @param run `rep_run_id` of the rows; null for the newest run
 * @throws FatalError `output_missing`,
 *   `no_such_run`; as `enrich`
 */
export async function retryTable(
  job: EnrichJob,
  warehouse: Warehouse,
  fill: TableFill,
  run: string | null,
): Promise<Manifest> {
  const { display } = warehouse.target;
  const { output, run: howToRun } = job.settings;
  const { prefix } = output;
  const { resume, stateDir } = howToRun;
  const base = recordBase(warehouse.target, stateDir);
  const stateBase = base + retrySuffix;
  const saved = resume ? await readAnyCheckpoint(statePath(stateBase)) : null;
  const found = await fill.find({ prefix, runId: run ?? saved?.runId ?? null });
  const earlier = await findManifest(base);
  // The manifest of another run in the table stays.
  const isItsRun = earlier === null || earlier.run_id === found.runId;
  const target: WarehouseOutputTarget = {
    file: null,
    base: isItsRun ? base : stateBase,
    name: display,
    format: warehouse.target.kind,
    gzip: false,
    warehouse: {
      ...warehouse,
      open: (options) => fill.open(options),
    },
  };
  const handling = tableRows(display, await fill.input(found.query), found, prefix);
  // A limit protects an earlier output from being replaced; nothing is replaced here.
  const settings = { ...job.settings, run: { ...howToRun, maxFailed: { percent: 100 } } };
  const isSynthetic = isItsRun && earlier?.synthetic === true;
  return runResumably(
    { ...job, settings },
    { ...handling, synthetic: isSynthetic },
    target,
    stateBase,
  );
}

function tableRows(
  display: string,
  table: TableInput,
  { runId, optional }: FoundRows,
  prefix: string,
): RowHandling {
  const copyOf = { name: display, kind: table.kind };
  const form = { format: "ndjson", keepsNulls: false } as const;
  const copied: CopiedInput = {
    sources: [],
    inFolder({ folder }) {
      const input = { path: copyPath(folder, form.format), copyOf };
      return { input, open: (resume) => openSavedRows(input, prefix, resume) };
    },
    make: (place: CopyPlace, isResumed) =>
      copyOnce(table, { ...place, ...form, onNotice: undefined }, isResumed),
  };
  return {
    inputFormat: () => Promise.resolve("ndjson"),
    options: { retry: true, run: runId },
    runId,
    optional,
    partialsFromCache: false,
    open: () => Promise.reject(new TypeError("copy the rows first")),
    start: retryStart,
    copied,
  };
}

/** Opens the copy of a run's rows. */
async function openSavedRows(
  input: Extract<SourceInput, { readonly path: string }>,
  prefix: string,
  resume: SourcePosition | null,
): Promise<OpenedSource> {
  const offset = resume?.offset ?? 0;
  const bytes = await openInput(input, { gzip: false, offset, before: resume?.input });
  const columns = [`${prefix}item`];
  return {
    columns,
    kind: input.copyOf?.kind,
    // Rejected rows are a list of items.
    reading: {
      format: "csv",
      delimiter: ",",
      comment: null,
      spaced: false,
      header: "record",
      item: { name: columns[0]!, index: 0, by: "format", sample: null },
      kind: null,
    },
    rows: savedRows(bytes.chunks, resume),
    bytesTotal: bytes.bytesTotal,
    bytesRead: () => bytes.bytesRead(),
    checksum: () => bytes.checksum(),
    warnings: new Map(),
    close: () => bytes.close(),
  };
}

async function* savedRows(
  chunks: AsyncIterable<Buffer>,
  resume: SourcePosition | null,
): AsyncGenerator<readonly EarlierRow[]> {
  const splitter = splitLines();
  let number = resume?.row ?? 0;
  let end = resume?.offset ?? 0;
  for await (const chunk of chunks) {
    const records = splitter.push(chunk);
    if (records.length === 0) continue;
    yield records.map((record) => {
      number++;
      end += record.length;
      return rowOf(JSON.parse(decodeBytes(record)) as JsonObject, number, end);
    });
  }
}

function rowOf(object: JsonObject, number: number, end: number): EarlierRow {
  const record = recordOf(object);
  const earlier = earlierFinding(record);
  const savedNumber = Number(object["row"]);
  if (earlier === null) {
    throw new FatalError(
      "output_corrupt",
      `row ${savedNumber} of the run has an unknown status or verdict`,
    );
  }
  const itemText = record.text("item");
  return {
    number,
    line: number,
    savedNumber,
    cells: [itemText],
    extra: null,
    json: null,
    itemText,
    kindText: record.text("kind"),
    fault: null,
    end,
    endLine: number,
    text: "",
    record,
    item: earlierItem(record),
    earlier,
  };
}

function recordOf(object: JsonObject): EarlierRecord {
  const list = (column: string): readonly string[] => {
    const value = object[column];
    return Array.isArray(value) ? value.map(String) : [];
  };
  return {
    list,
    text: (column) => {
      const value = object[column];
      if (typeof value === "string") return value;
      if (typeof value === "boolean" || typeof value === "number") return String(value);
      return list(column).join("|");
    },
    cells: [],
    json: null,
    extra: null,
  };
}
