import { addedColumns, type OptionalColumns } from "../../core/columns.js";
import { FatalError } from "../../core/errors.js";
import { formats } from "../../formats/registry.js";
import type { EncoderOptions, SinkFormat } from "../../formats/types.js";
import {
  openFileDestination,
  partPath,
  streamDestination,
} from "../../outputs/file-destination.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { Publication } from "../../outputs/publication.js";
import { stageUpTo } from "../../outputs/publish/staged-sink.js";
import { stagePath } from "../../outputs/stage.js";
import type { Audit, Destination } from "../../outputs/types.js";
import { outputFault } from "../../outputs/output-fault.js";
import { writtenOf } from "../../run/left-out-counts.js";
import { wrongCounts } from "../../run/finish/wrong-counts.js";
import { hashFile } from "../../core/files/file-hash.js";
import { TextJoin } from "./join-text.js";
import { type MergedRows, mergedRows } from "./merged-rows.js";
import type { MergeJob } from "./merge-job.js";
import type { SummedChunks } from "./merge-manifest.js";
import type { WorkPlan } from "./work-plan.js";
import type { OutputTarget } from "../../run/destination/output-target.js";

/** The joined rows of all chunks, ready to be published. */
export interface JoinedOutput {
  readonly audit: Audit | null;
  /** Appended to the names of the files. */
  readonly suffix: string;
  /** The files, the rows last. */
  readonly opened: readonly Destination[];
  /** Null for text. */
  readonly staged: StagedMerge | null;
}

/** Staged rows and where they will be published. */
export interface StagedMerge extends Pick<Publication, "earlierRows"> {
  prepare(suffix: string): Promise<Audit | null>;
  commit(suffix: string, manifest: Manifest): Promise<void>;
}

interface OpenedMerge {
  readonly publication: Publication;
  readonly stateFolder: string;
}

/** Checks where staged rows will be published; null for text. @throws ReputeError */
export async function openMerged(
  { plan, settings, signal, clock, onWarning }: Omit<MergeJob, "work">,
  { warehouse, base }: OutputTarget,
  stateFolder: string | null,
): Promise<OpenedMerge | null> {
  if (warehouse === null || stateFolder === null || base === null) return null;
  const publication = await warehouse.open({
    columns: plan.columns,
    types: plan.types,
    optional: optionalOf(plan),
    prefix: plan.settings.prefix,
    runId: plan.plan_id,
    stateFolder,
    base,
    mode: settings.mode,
    key: settings.key,
    signal,
    ...(clock && { clock }),
    ...(onWarning && { onWarning }),
  });
  return { publication, stateFolder };
}

/** Opens the file or stream into which the rows of all chunks are joined. */
export async function openJoined(
  { stdout }: MergeJob,
  { warehouse, file, name }: OutputTarget,
  stateFolder: string | null,
): Promise<Destination> {
  if (warehouse !== null && stateFolder !== null) {
    return openFileDestination(stagePath(stateFolder), null);
  }
  return file === null ? streamDestination(stdout, name) : openFileDestination(file, null);
}

/** Joins the outputs of chunks. Staged rows have no header. */
export function outputJoin(
  plan: WorkPlan,
  { warehouse, format, gzip }: OutputTarget,
  destination: Destination,
): OutputJoin {
  if (warehouse !== null) {
    const rows = mergedRows(plan, null);
    return { join: new TextJoin({ destination, header: "", gzip: false, rows }), rows };
  }
  const { header } = formats[format].write(encoderOptions(plan, format));
  const rows = mergedRows(plan, header);
  return { join: new TextJoin({ destination, header, gzip, rows }), rows };
}

interface OutputJoin {
  readonly join: TextJoin;
  /** Null if the rows stay as they are. */
  readonly rows: MergedRows | null;
}

/** The joined rows as a stage. */
export async function stageJoined(
  { publication, stateFolder }: OpenedMerge,
  joined: Destination,
  rows: number,
): Promise<StagedMerge> {
  await joined.sync();
  const checksum = joined.checksum();
  const position = { length: joined.length, rows, ...(checksum && { checksum }) };
  const stage = stageUpTo(publication, stateFolder, position);
  return {
    earlierRows: publication.earlierRows,
    prepare: (suffix) => publication.prepare(stage, suffix),
    commit: (suffix, manifest) => publication.commit(stage, suffix, manifest),
  };
}

/** Gives the files their names, and publishes staged rows. */
export async function finishJoined(
  opened: readonly Destination[],
  staged: StagedMerge | null,
  suffix: string,
  manifest: Manifest,
): Promise<void> {
  const files = staged === null ? opened : opened.slice(0, -1);
  for (const each of files) await each.finish(suffix);
  await staged?.commit(suffix, manifest);
  if (staged !== null) await opened.at(-1)?.abandon();
}

/** Start of every file of rejected rows. */
export function rejectsHeader(plan: WorkPlan): string {
  const { columns, reading, settings } = plan;
  const { formulaGuard } = settings;
  const optional = optionalOf(plan);
  return formats[reading.format].rejects({ columns, reading, formulaGuard, optional }).header;
}

function encoderOptions(plan: WorkPlan, format: SinkFormat): EncoderOptions {
  const { columns, settings } = plan;
  const {
    prefix,
    shape = format === "ndjson" ? "nested" : "flat",
    formulaGuard,
    esIndex,
    esAction,
    esId,
  } = settings;
  const added = addedColumns(optionalOf(plan));
  return { columns, prefix, shape, formulaGuard, esIndex, esAction, esId, added };
}

/** The columns of chunks. */
function optionalOf({ reading, settings }: WorkPlan): OptionalColumns {
  return { column: reading.items.length > 1, only: settings.columns };
}

/**
 * Reads text back, which has to be what was written: the rows of each chunk were counted by its run,
 * and its bytes compared with that run's checksum.
 *
 * @throws FatalError `rows_lost`
 */
export async function auditMergedPart(
  name: string,
  file: string,
  written: Destination,
): Promise<Audit> {
  const path = partPath(file);
  const found = await hashFile(path).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  const { bytes, crc } = written.checksum() ?? found;
  if (bytes === found.bytes && crc === found.crc) return { ...found, ...uncounted };
  throw new FatalError("rows_lost", `${name} does not hold what was written to it`, {
    hint: "check the disk, then merge again: the chunks are intact",
  });
}

const uncounted = { rows: null, statuses: null, verdicts: null } as const;

/** Rows planned = rows of all chunks = rows in the output, by status and verdict. */
export function checkCounts(
  summed: SummedChunks,
  audit: Audit | null,
  { name }: OutputTarget,
): void {
  const { rows } = summed.input;
  const { statuses, verdicts } = summed;
  const faults: string[] = [];
  const counted = Object.values(statuses).reduce((sum, n) => sum + n, 0);
  if (counted !== rows) faults.push(`${rows} rows planned, ${counted} with a status`);
  const written = writtenOf({ rows, statuses, verdicts }, summed.left_out);
  const wrong = audit === null ? [] : wrongCounts(written, audit);
  for (const { phrase, recorded, found } of wrong) {
    faults.push(`${recorded} ${phrase}, ${found} in the output`);
  }
  if (faults.length === 0) return;
  throw new FatalError("rows_lost", `row counts of ${name} do not match: ${faults.join("; ")}`, {
    hint: "the chunks are intact; please report this as a bug",
  });
}
