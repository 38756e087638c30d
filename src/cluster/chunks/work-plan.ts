import { existsSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { UsageError } from "../../core/errors.js";
import type { ExclusionList } from "../../core/exclusions/exclusion-list.js";
import { openSealedJson, sealJson } from "../../core/files/json-file.js";
import { counted, shellWord } from "../../core/text/quantity.js";
import { programInfo } from "../../core/program.js";
import type { InputType } from "../../formats/typed-column.js";
import type { InputReading, SinkFormat } from "../../formats/types.js";
import type { Part } from "../../inputs/split-input.js";
import type { CopiedFrom, InputRange, SourceInput } from "../../inputs/types.js";
import { isObjectAddress } from "../../s3/address.js";
import type { LookupSettings } from "../../lookup/options.js";
import type { SinkSettings } from "../../outputs/options.js";
import type { Fingerprint } from "../../run/state/fingerprint.js";
import type { WorkFolder } from "./work-folder.js";
import type { CopyForm } from "../../run/rows/row-handling.js";

/** Name of the plan in its work folder. Written last: without it, the split has not finished. */
export const planName = "plan.json";

/** Name of the mark that the output of a run is published. Removed last. */
export const finishedName = "finished.json";

/** Version of the plan and of the results. Other versions are refused. */
const planVersion = 1;

/** Format of the chunks' outputs. */
export type ChunkFormat = Exclude<SinkFormat, "stix"> | "parquet";

/** The settings that every chunk has to share, because its rows depend on them. */
export interface PlannedSettings
  extends
    Pick<
      SinkSettings,
      "prefix" | "shape" | "esIndex" | "esAction" | "esId" | "formulaGuard" | "columns" | "only"
    >,
    Partial<Pick<SinkSettings, "distinct">>,
    Pick<LookupSettings, "lookups" | "bogons" | "urlQuery"> {
  readonly to: ChunkFormat;
  /** The exclusion lists as they were, which every machine finds at these absolute paths. */
  readonly exclude: readonly Pick<ExclusionList, "path" | "sha256">[];
}

/** One chunk: a range of bytes, and the rows in it. */
export interface PlannedChunk {
  readonly chunk: number;
  /** Offsets in the input, or in its copy; the end is exclusive. */
  readonly start: number;
  readonly end: number;
  /** Number of its first row, from 1; the first one also has the header. */
  readonly first_row: number;
  readonly rows: number;
  /** Lines of the input before it. */
  readonly lines_before: number;
  /** Of its bytes, hexadecimal. */
  readonly crc32: string;
}

/** How an input is divided: `plan.json`. */
export interface WorkPlan {
  readonly version: typeof planVersion;
  /** Identifies the plan in results; `rep_run_id` of every row. */
  readonly plan_id: string;
  readonly created_at: string;
  readonly input: {
    /** As given, without a password; null for stdin. */
    readonly path: string | null;
    /** The same, absolute, and as seen from the work folder. */
    readonly absolute: string | null;
    readonly from_work: string | null;
    /** Of an object whose ranges are read: the version that was divided. */
    readonly etag?: string;
    /** Name of the decompressed copy in the work folder; null if ranges of the input itself are read. */
    readonly copy: string | null;
    /** Set if the copy is that of a table. */
    readonly table?: CopiedFrom & CopyForm;
    /** Size as stored. */
    readonly bytes: number;
    readonly rows: number;
  };
  /** The header. */
  readonly columns: readonly string[];
  /** The types of a table's columns. */
  readonly types?: readonly InputType[] | undefined;
  readonly reading: InputReading;
  readonly settings: PlannedSettings;
  /** Of the run that divided its input for workers. */
  readonly fingerprint?: Fingerprint;
  /** Message → number of times, about the input as a whole. */
  readonly warnings: Readonly<Record<string, number>>;
  readonly chunks: readonly PlannedChunk[];
}

/** The members of a plan that a reader needs besides those of `Part`. */
export function plannedChunk({ start, end, row, line, rows, crc }: Part, chunk: number) {
  const crc32 = crc.toString(16).padStart(8, "0");
  return { chunk, start, end, first_row: row + 1, rows, lines_before: line, crc32 };
}

/** The version as first member, so that every version can tell. */
export function planText(plan: Omit<WorkPlan, "version">): string {
  return `${sealJson({ version: planVersion, ...plan })}\n`;
}

/**
 * Reads the plan of a work folder.
 *
 * @throws UsageError `work_missing`, `plan_version`, `plan_damaged`; FatalError `work_unreadable`
 */
export async function readPlan(work: WorkFolder): Promise<WorkPlan> {
  const text = await work.read(planName);
  if (text === null) {
    throw new UsageError("work_missing", `${work.name} has no ${planName}`, {
      hint: `name a folder that repute split made: repute split INPUT -o ${shellWord(work.name)}`,
    });
  }
  const plan = openSealedJson(text);
  const path = work.address(planName);
  if (plan === null) {
    throw new UsageError("plan_damaged", `${path} is damaged: its checksum does not match`, {
      hint: "restore it, or split the input again into another folder",
    });
  }
  if (plan["version"] === planVersion) return plan as unknown as WorkPlan;
  throw new UsageError(
    "plan_version",
    `${path} has format ${String(plan["version"])}; this version of repute (${programInfo().version}) reads ${planVersion}`,
    { hint: "use the same version of repute for split, enrich and merge" },
  );
}

/** A folder with the remains of a split that was killed is free; its copy is written anew. */
export async function mustBeFree(work: WorkFolder): Promise<void> {
  const names = await work.list();
  if (names.some((name) => !/^input(?:\.|$)|\.new$/.test(name))) throw await taken(work);
}

export async function taken(work: WorkFolder): Promise<UsageError> {
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

/** The input of one chunk: a range of the input, or of its copy; or of an object, by its address. */
export function chunkInput(
  work: WorkFolder,
  { input, columns, reading }: WorkPlan,
  { start, end, first_row, lines_before, crc32 }: PlannedChunk,
): ChunkInput {
  const checksum = { bytes: end - start, crc: Number.parseInt(crc32, 16), marks: [] };
  const range = { start, end, row: first_row - 1, line: lines_before, columns, reading, checksum };
  const { table } = input;
  const copyOf = table && { name: table.name, kind: table.kind };
  return { path: inputFile(work, input), range, ...(copyOf && { copyOf }) };
}

export type ChunkInput = Extract<SourceInput, { readonly path: string }> & {
  readonly range: InputRange;
};

/** The work folder and the input may be mounted elsewhere on this machine. */
function inputFile(
  work: WorkFolder,
  { copy, path, absolute, from_work }: WorkPlan["input"],
): string {
  if (copy !== null) return work.address(copy);
  if (path !== null && isObjectAddress(path)) return path;
  const moved = work.pathOf(from_work ?? "");
  return !existsSync(absolute ?? "") && existsSync(moved) ? moved : (absolute ?? moved);
}

/** Both ways to find an input from a work folder. */
export function waysToInput(work: WorkFolder, path: string | null) {
  if (path === null || isObjectAddress(path)) return { path, absolute: null, from_work: null };
  const absolute = resolve(path);
  if (work.isRemote) return { path, absolute, from_work: null };
  const from_work = relative(resolve(work.pathOf(".")), absolute);
  return { path, absolute, from_work: isAbsolute(from_work) ? null : join(from_work) };
}

/** Base name of a chunk's files. */
export function chunkName(chunk: number): string {
  return `chunk-${String(chunk).padStart(5, "0")}`;
}
