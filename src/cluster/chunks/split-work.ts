import { v7 as timeOrderedId } from "uuid";
import { type FileHandle, open } from "node:fs/promises";
import { resolve } from "node:path";
import { raceAbort } from "../../core/abort.js";
import { type Clock, systemClock } from "../../core/clock.js";
import { UsageError } from "../../core/errors.js";
import { readExclusions } from "../../core/exclusions/read-exclusions.js";
import { counted, shellWord } from "../../core/text/quantity.js";
import { formats } from "../../formats/registry.js";
import { limits } from "../../formats/reading/lines.js";
import { isPlain } from "../../inputs/decode.js";
import { InputSplitter } from "../../inputs/split-input.js";
import type { OpenedSource, Encoding, SourceInput } from "../../inputs/types.js";
import { isObjectAddress } from "../../s3/address.js";
import { mustChooseColumns, reportedColumns } from "../../core/needed-columns.js";
import { refuseWithoutColumns } from "../../run/destination/refuse-options.js";
import { outputFault } from "../../outputs/output-fault.js";
import { announceReading, type PrepareInput, readingOf, storedAs } from "../../run/rows/reading.js";
import type { Fingerprint } from "../../run/state/fingerprint.js";
import { copySeal } from "../../run/copy/copy-writer.js";
import { copyTable } from "./split-table.js";
import type { WorkFolder } from "./work-folder.js";
import {
  waysToInput,
  type PlannedChunk,
  type PlannedSettings,
  plannedChunk,
  planName,
  planText,
  readPlan,
  type WorkPlan,
} from "./work-plan.js";
import type { ReadingSettings } from "../../run/rows/row-handling.js";

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
  /** Recorded in the plan. */
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
  const file = needsCopy ? await openCopy(work.pathOf("input")) : null;
  const copy = table?.copy ?? (needsCopy ? "input" : null);
  try {
    const splitter = new InputSplitter(
      file === null ? undefined : (bytes) => writeCopy(file, work, bytes),
    );
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

/** Whether ranges of the input itself can be read, wherever the chunks are done. */
async function canStay(
  input: SourceInput,
  { isRemote }: WorkFolder,
  stored: Encoding,
): Promise<boolean> {
  if (!("path" in input)) return false;
  if (isObjectAddress(input.path)) {
    const { isPlainObject } = await import("./object-range.js");
    return isPlainObject(input, stored);
  }
  // Other machines that share objects do not share files.
  return !isRemote && isPlainFile(input.path, stored);
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

/** A folder with the remains of a split that was killed is free; its copy is written anew. */
async function mustBeFree(work: WorkFolder): Promise<void> {
  const names = await work.list();
  if (names.some((name) => !/^input(?:\.|$)|\.new$/.test(name))) throw await taken(work);
}

async function taken(work: WorkFolder): Promise<UsageError> {
  const plan = await readPlan(work).catch(() => null);
  if (plan !== null) {
    const { input, chunks } = plan;
    const size = `${counted(input.rows, "row")} in ${counted(chunks.length, "chunk")}`;
    return new UsageError(
      "work_exists",
      `${work.name} has a complete plan already: ${input.path ?? "stdin"}, ${size}`,
      {
        hint: `do its chunks: repute enrich ${shellWord(work.name)} --chunk N; to split again, name a new folder, or remove this one`,
      },
    );
  }
  return new UsageError("work_exists", `${work.name} is not empty`, {
    hint: "name a new folder, or remove this one",
  });
}

/** Whether ranges of a file can be read as they are. */
async function isPlainFile(path: string, stored: Encoding): Promise<boolean> {
  const handle = await open(path, "r").catch(() => null);
  // Opening the input reports why it cannot be read.
  if (handle === null) return true;
  try {
    if (!(await handle.stat()).isFile()) return false;
    const { headBytes } = limits;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return isPlain(buffer.subarray(0, bytesRead), stored);
  } finally {
    await handle.close();
  }
}

async function openCopy(path: string): Promise<FileHandle> {
  return open(path, "w", 0o600).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

async function writeCopy(file: FileHandle, work: WorkFolder, bytes: Buffer): Promise<void> {
  try {
    for (let done = 0; done < bytes.length;) {
      done += (await file.write(bytes, done)).bytesWritten;
    }
  } catch (error) {
    throw outputFault(work.pathOf("input"), error);
  }
}
