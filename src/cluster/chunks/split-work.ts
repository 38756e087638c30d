import { v7 as timeOrderedId } from "uuid";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { raceAbort } from "../../core/abort.js";
import { type Clock, systemClock } from "../../core/clock.js";
import { UsageError } from "../../core/errors.js";
import { readExclusions } from "../../core/exclusions/read-exclusions.js";
import { formats } from "../../formats/registry.js";
import { isPlain } from "../../inputs/decode.js";
import { openStored } from "../../inputs/stored-input.js";
import { InputSplitter } from "../../inputs/split-input.js";
import type { OpenedSource, Encoding, SourceInput } from "../../inputs/types.js";
import { isObjectAddress } from "../../s3/address.js";
import { mustChooseColumns, reportedColumns } from "../../core/needed-columns.js";
import { refuseWithoutColumns } from "../../run/destination/refuse-options.js";
import { outputFault } from "../../outputs/output-fault.js";
import { announceReading, type PrepareInput, readingOf, storedAs } from "../../run/rows/reading.js";
import type { Fingerprint } from "../../run/state/fingerprint.js";
import { copyOnce, copyPath, copySeal } from "../../run/copy/copy-writer.js";
import { findTableInput } from "../../run/copy/find-table-input.js";
import type { WorkFolder } from "./work-folder.js";
import {
  mustBeFree,
  type PlannedChunk,
  type PlannedSettings,
  plannedChunk,
  planName,
  planText,
  readPlan,
  taken,
  waysToInput,
  type WorkPlan,
} from "./work-plan.js";
import type { ReadingSettings, RowHandling } from "../../run/rows/row-handling.js";

/** Everything that dividing an input needs. */
interface SplitJob {
  readonly input: SourceInput;
  readonly work: WorkFolder;
  /** `to`: by default ndjson for NDJSON input, else csv. */
  readonly settings: ReadingSettings &
    Omit<PlannedSettings, "to" | "exclude"> & {
      readonly exclude?: readonly string[] | undefined;
      readonly to?: PlannedSettings["to"] | undefined;
      readonly rowsPerChunk: number;
    };
  readonly signal: AbortSignal;
  /** @default the system clock */
  readonly clock?: Clock | undefined;
  /** Called with choices that the user may want to check, such as the item column. */
  readonly onNotice?: ((message: string) => void) | undefined;
  readonly fingerprint?: Fingerprint | undefined;
}

/**
 * Divides an input into chunks and writes the plan. Plain files and objects are left where they are;
 * anything else (gzip, other encodings, JSON documents, stdin, tables; for a remote work folder, files) is copied into it.
 *
 * @throws UsageError `work_exists`; as `openSource`; FatalError `output_*`
 */
export async function splitWork(job: SplitJob): Promise<WorkPlan> {
  const { input, work, settings, clock = systemClock, signal } = job;
  await mustBeFree(work);
  await work.prepare();
  const table = await copyTable(job);
  const needsCopy = table === null && !(await canStay(input, work, storedAs(input, settings)));
  const refuse = (error: unknown): never => {
    throw outputFault(work.pathOf("input"), error);
  };
  const file = needsCopy ? await open(work.pathOf("input"), "w", 0o600).catch(refuse) : null;
  const copy = table?.copy ?? (needsCopy ? "input" : null);
  try {
    const splitter = new InputSplitter(async (bytes) => file?.writeFile(bytes).catch(refuse));
    const prepare: PrepareInput = (each, options) => splitter.open(each, options);
    const reading = table?.read(prepare) ?? readingOf(input, settings, clock, prepare);
    const source = await raceAbort(reading.open(null), signal, (late) => late.close());
    const { columns, types } = source;
    announceReading(job, source);
    const planned = settingsOf(settings, source, await plannedLists(settings.exclude));
    const chunks = await chunksOf(splitter, source, job);
    await file?.sync();
    const plan = {
      plan_id: timeOrderedId(),
      created_at: new Date(clock.now()).toISOString(),
      input: {
        ...(table?.paths ?? (await pathsOf(input, work, needsCopy))),
        copy,
        bytes: source.bytesTotal ?? source.bytesRead(),
        rows: chunks.reduce((sum, { rows }) => sum + rows, 0),
      },
      columns,
      ...(types === undefined ? {} : { types }),
      reading: source.reading,
      settings: planned,
      ...(job.fingerprint === undefined ? {} : { fingerprint: job.fingerprint }),
      warnings: Object.fromEntries(source.warnings),
      chunks,
    };
    if (copy !== null) await work.keep(copy, signal);
    if (!(await work.publish(planName, planText(plan)))) throw await taken(work);
    return await readPlan(work);
  } catch (error) {
    if (copy !== null && (await work.read(planName).catch(() => "")) === null) {
      await work.remove(copy);
    }
    throw error;
  } finally {
    await file?.close();
    for (const name of [copy ?? "", copySeal]) if (name !== "") await work.clear(name);
    await work.close();
  }
}

/** A table that was copied into a work folder. */
interface SplitTable {
  readonly copy: string;
  /** What the plan tells of it. */
  readonly paths: Pick<WorkPlan["input"], "path" | "absolute" | "from_work" | "table">;
  read(prepare: PrepareInput): RowHandling;
}

/**
 * Copies the rows of a table into the work folder; null if the input is text.
 *
 * @throws UsageError `text_option`, `input_empty`; as the table's reader
 */
async function copyTable(job: SplitJob): Promise<SplitTable | null> {
  const { input, work, settings, signal, clock, onNotice } = job;
  const found = "path" in input ? await findTableInput(input.path) : null;
  if (found === null) return null;
  const { readTable, refuseTextOptions } = await import("../../run/copy/copied-table.js");
  const format = settings.to === "ndjson" ? "ndjson" : "tsv";
  const form = { format, keepsNulls: settings.to === "parquet" } as const;
  refuseTextOptions(found, settings);
  const place = { ...form, folder: work.pathOf("."), clock };
  await copyOnce(found, { ...place, signal, onNotice }, false);
  const { name, kind, file } = found;
  return {
    copy: copyPath("", format),
    paths: { ...waysToInput(work, file), path: name, table: { name, kind, ...form } },
    read: (prepare) => readTable(found, settings, { ...place, prepare }),
  };
}

/** Whether ranges of the input itself can be read, wherever the chunks are done. */
async function canStay(
  input: SourceInput,
  { isRemote }: WorkFolder,
  stored: Encoding,
): Promise<boolean> {
  if (!("path" in input)) return false;
  const isObject = isObjectAddress(input.path);
  // Other machines that share objects do not share files.
  if (isRemote && !isObject) return false;
  const opened = await openStored(input).catch(() => null);
  // Opening the input again reports why it cannot be read.
  if (opened === null) return true;
  try {
    const head = await opened.head?.();
    return head !== undefined && isPlain(head, stored);
  } finally {
    await opened.close();
  }
}

/** What the plan tells of an input of text. */
async function pathsOf(input: SourceInput, work: WorkFolder, isCopied: boolean) {
  const paths = waysToInput(work, "path" in input ? input.path : null);
  if (isCopied || !("path" in input) || !isObjectAddress(input.path)) return paths;
  const { pinnedObject } = await import("../../inputs/stored-object.js");
  return { ...paths, etag: (await pinnedObject(input)).etag };
}

async function chunksOf(
  splitter: InputSplitter,
  source: OpenedSource,
  { settings: { rowsPerChunk }, signal }: SplitJob,
): Promise<readonly PlannedChunk[]> {
  const chunks: PlannedChunk[] = [];
  const parts = splitter.parts(source.rows, rowsPerChunk);
  try {
    for (;;) {
      const { value, done } = await raceAbort(parts.next(), signal);
      if (done === true) return chunks;
      chunks.push(plannedChunk(value, chunks.length));
    }
  } finally {
    await source.close();
  }
}

/** The settings that the chunks share. Fails now if the added columns clash with the input's. */
function settingsOf(
  settings: SplitJob["settings"],
  { columns, reading }: OpenedSource,
  exclude: PlannedSettings["exclude"],
): PlannedSettings {
  const { prefix, shape, esIndex, esAction, esId, formulaGuard, lookups, bogons, urlQuery } =
    settings;
  const { columns: only, distinct = false } = settings;
  const to = settings.to ?? (reading.format === "ndjson" ? "ndjson" : "csv");
  const writer = formats[to === "parquet" ? "csv" : to];
  writer.write({ columns, prefix, shape: shape ?? "flat", formulaGuard });
  refuseWithoutColumns(settings, to);
  if (distinct) {
    mustChooseColumns("--distinct across chunks: the output", reportedColumns, only);
    if (to !== "parquet" && formats[to].earlier === undefined) throw distinctShape(to);
  }
  const left = { columns: only, only: settings.only, distinct };
  const form = { to, prefix, shape, esIndex, esAction, esId, formulaGuard, ...left };
  return { ...form, lookups, bogons, urlQuery, exclude };
}

function distinctShape(to: string): UsageError {
  return new UsageError("chunk_option", `--distinct does not go with chunks of ${to}`, {
    hint: "the merge cannot read them back: leave it out, or run enrich on the whole input",
  });
}

/** @throws UsageError `exclusions_unreadable`, `exclusion_invalid` */
async function plannedLists(paths: readonly string[] = []): Promise<PlannedSettings["exclude"]> {
  const lists = await readExclusions(paths);
  return lists.map(({ path, sha256 }) => ({ path: resolve(path), sha256 }));
}
