import { KnownItems } from "../../run/rows/known-items.js";
import { leadingNames } from "../../outputs/sql/table-schema.js";
import type { Tally } from "../../run/tally.js";
import { splitLines } from "../../formats/record-splitter.js";
import { itemKinds } from "../../core/item/item.js";
import { countedVerdicts, findingStatuses } from "../../core/finding.js";
import { decodeBytes } from "../../core/bytes.js";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Clock, systemClock } from "../../core/clock.js";
import { addedColumns, type OptionalColumns } from "../../core/columns.js";
import { formats } from "../../formats/registry.js";
import { openFileDestination } from "../../outputs/file-destination.js";
import type { Publication } from "../../outputs/publication.js";
import { stagePath } from "../../outputs/stage.js";
import type { TableMode } from "../../outputs/options.js";
import type { Destination } from "../../outputs/types.js";
import { encoderOptions, openStream } from "../../run/destination/open-output.js";
import type { OutputTarget } from "../../run/destination/output-target.js";
import type { FailOn, RowLimit } from "../../run/failure-limits.js";
import { checkFile, type ChunkFault, type ChunkResult, refuseFaults } from "./chunk-result.js";
import type { WorkFolder } from "./work-folder.js";
import type { WorkPlan } from "./work-plan.js";

export interface MergeJob {
  readonly work: WorkFolder;
  readonly plan: WorkPlan;
  readonly settings: {
    readonly output: string;
    readonly rejects?: string | undefined;
    readonly mode: TableMode;
    readonly key?: readonly string[] | undefined;
    readonly maxFailed: RowLimit;
    readonly minRows: RowLimit;
    readonly failOn: FailOn;
  };
  /** Receives the rows when the output is `-`. */
  readonly stdout: Writable;
  /** The command line without secrets. Recorded in the manifest. */
  readonly command: readonly string[];
  readonly signal: AbortSignal;
  /** @default the system clock */
  readonly clock?: Clock | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  /** The output, if it is chosen already. `settings` then name local files. */
  readonly target?: OutputTarget;
  /** How often the run was resumed. @default the sum over its chunks */
  readonly resumed?: number;
}

/** Checks where staged rows will be published; null for text. @throws ReputeError */
export async function openMerged(
  { plan, settings, signal, clock, onWarning }: Omit<MergeJob, "work">,
  target: OutputTarget,
  stateFolder: string,
): Promise<Publication | null> {
  if (target.warehouse === null) return null;
  return target.warehouse.open({
    columns: plan.columns,
    types: plan.types,
    optional: optionalOf(plan),
    prefix: plan.settings.prefix,
    runId: plan.plan_id,
    stateFolder,
    base: target.base,
    mode: settings.mode,
    key: settings.key,
    signal,
    ...(clock && { clock }),
    ...(onWarning && { onWarning }),
  });
}

/** Opens the file or stream into which the rows of all chunks are joined. */
export function openJoined(
  { stdout, signal }: MergeJob,
  { warehouse, file, name }: OutputTarget,
  stateFolder: string,
): Promise<Destination> {
  if (warehouse !== null) return openFileDestination(stagePath(stateFolder), null);
  return file === null ? openStream({ name }, { stdout, signal }) : openFileDestination(file, null);
}

/** Start of every file of rows; null for staged rows. */
export function rowsHeader(plan: WorkPlan, { warehouse, format }: OutputTarget): string | null {
  if (warehouse !== null) return null;
  const added = addedColumns(optionalOf(plan));
  const rest = { columns: plan.columns, added, clock: systemClock };
  return formats[format].write(encoderOptions(plan.settings, format, rest)).header;
}

export function rejectsHeader(plan: WorkPlan): string {
  const { columns, reading, settings } = plan;
  const { formulaGuard } = settings;
  const optional = optionalOf(plan);
  return formats[reading.format].rejects({ columns, reading, formulaGuard, optional }).header;
}

/** The columns of chunks. */
function optionalOf({ reading, settings }: WorkPlan): OptionalColumns {
  return { column: reading.items.length > 1, only: settings.columns };
}

const compress = promisify(gzip);

/** A file into which those of all chunks are joined. */
interface JoinedFile {
  readonly destination: Destination;
  /** Start of every file; kept of the first one. */
  readonly header: string;
  readonly gzip: boolean;
  /** Edits the rows on their way. @default they stay as they are */
  readonly edit?: ((rows: Buffer) => Buffer) | null;
}

/** Joins one file of each result. @throws FatalError `chunks_missing`, naming the damaged ones */
export async function joinFiles(
  { work, plan, signal }: MergeJob,
  results: readonly ChunkResult[],
  which: "output" | "rejects",
  { destination, header: text, gzip: isCompressed, edit }: JoinedFile,
): Promise<void> {
  const header = Buffer.from(text, "utf8");
  // A gzip file is a sequence of members (RFC 1952, section 2.2): one for each part.
  const write = async (bytes: Buffer): Promise<void> =>
    destination.write(isCompressed ? await compress(bytes) : bytes);
  const faults: ChunkFault[] = [];
  // Even where it is empty: a compressed file has at least one member.
  await write(header);
  for (const { chunk, [which]: file } of results) {
    signal.throwIfAborted();
    let head: Buffer = Buffer.alloc(0);
    const take = async (part: Buffer): Promise<void> => {
      const missing = header.length - head.length;
      head = Buffer.concat([head, part.subarray(0, missing)]);
      const rest = part.subarray(missing);
      if (rest.length > 0) await write(edit?.(rest) ?? rest);
    };
    const what = await checkFile(work, file, take, signal);
    if (what !== null) faults.push({ chunk, what });
    else if (!head.equals(header)) faults.push({ chunk, what: `${file.file} has another header` });
  }
  refuseFaults(work, plan, faults);
}

/** What a row says of itself, by the name of the column. */
type TextOf = (column: string) => string;

/** Edits part of a file of rows, which may end within a row. A file ends with a whole one. */
type EditRows = (bytes: Buffer) => Buffer;

/**
 * Numbers the staged rows of all chunks, and with `--distinct` drops items that an earlier chunk has.
 * Null if the files of the chunks can be joined as they are.
 *
 * @param header of the files of text; null for staged rows
 * @param tally counts the rows that are dropped
 */
export function mergedRows(plan: WorkPlan, header: string | null, tally: Tally): EditRows | null {
  const { distinct = false, only } = plan.settings;
  if (!distinct && (header !== null || only === undefined)) return null;
  const seen = new KnownItems();
  const repeats = (text: TextOf): boolean => {
    const kind = itemKinds.find((known) => known === text("kind"));
    if (!distinct || kind === undefined || seen.add({ kind, value: text("item") })) return false;
    const status = findingStatuses.find((known) => known === text("status"));
    const verdict = countedVerdicts.find((known) => known === text("verdict"));
    tally.leave("distinct", status ?? "failed", verdict ?? "unknown");
    return true;
  };
  const { split, edit } =
    header === null ? stagedRows(plan, repeats) : textRows(plan, header, repeats);
  const splitter = split();
  return (bytes) => Buffer.concat(splitter.push(bytes).flatMap((record) => edit(record) ?? []));
}

function stagedRows({ columns, settings }: WorkPlan, repeats: (text: TextOf) => boolean) {
  const first = leadingNames.length + columns.length;
  const names = addedColumns({ only: settings.columns }).map(({ name }) => name);
  let written = 0;
  const edit = (record: Buffer): Buffer | null => {
    const cells = parsedOr(() => JSON.parse(record.toString()) as unknown[]);
    if (cells === null || repeats((name) => textIn(cells[first + names.indexOf(name)]))) {
      return null;
    }
    cells[1] = String(++written);
    return Buffer.from(`${JSON.stringify(cells)}\n`);
  };
  return { split: splitLines, edit };
}

function textRows({ settings }: WorkPlan, header: string, repeats: (text: TextOf) => boolean) {
  const { to, prefix } = settings;
  if (to === "parquet") throw new TypeError("rows of Parquet are staged");
  const format = formats[to];
  const edit = (record: Buffer): Buffer | null => {
    const text = decodeBytes(record);
    const read = parsedOr(() => format.earlier?.layout(header || text, prefix)?.read(text));
    return read === null || repeats((name) => read.text(name)) ? null : record;
  };
  return { split: () => format.split(), edit };
}

function textIn(cell: unknown): string {
  return typeof cell === "string" ? cell : "";
}

/** A damaged file is reported once its checksum is known. */
function parsedOr<T>(parse: () => T | null | undefined): T | null {
  try {
    return parse() ?? null;
  } catch {
    return null;
  }
}
