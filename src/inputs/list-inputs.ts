import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { UsageError } from "../core/errors.js";
import { readJsonFile } from "../core/files/json-file.js";
import { realPath } from "../core/files/real-path.js";
import { shellWord } from "../core/text/quantity.js";
import { detectSourceFormat } from "../formats/registry.js";
import { isObjectAddress, isObjectPrefix } from "../s3/address.js";
import { listDataSet } from "./list-data-set.js";
import type { InputFolder, NamedInput, SeveralInputs, SkippedFile, SourceInput } from "./types.js";
import { openError } from "./verify-input.js";

/** Files that a run writes. */
export interface WrittenFiles {
  readonly output?: string | undefined;
  readonly rejects?: string | undefined;
}

/** Which files of folders are listed. */
interface ListOptions extends WrittenFiles {
  /** Any but hidden ones. @default those of known formats */
  readonly anyFile?: boolean;
}

/**
 * Lists files, tables, and the files in folders, sorted by name. Of a data set, the files are those
 * that its manifest names.
 *
 * @param names `-` is the stream
 * @throws UsageError `input_folder_empty`, `input_is_work`; FatalError `input_unreadable`; as `listDataSet`
 */
export async function listInputs(
  names: readonly string[],
  stream: () => Extract<SourceInput, { readonly stream: unknown }>,
  { output, rejects, anyFile = false }: ListOptions = {},
): Promise<Required<SeveralInputs>> {
  const inputs: NamedInput[] = [];
  const skipped: SkippedFile[] = [];
  const own = [output, rejects].flatMap((path) => (path === undefined ? [] : [placeOf(path)]));
  for (const name of names) {
    if (name === "-") {
      inputs.push({ name, input: stream() });
      continue;
    }
    const folder = await openFolder(name, { own, anyFile });
    inputs.push(...(folder?.inputs ?? [{ name, input: { path: name } }]));
    skipped.push(...(folder?.skipped ?? []));
  }
  return { inputs, skipped };
}

/** The address of an object, or the path of a file with symbolic links resolved. */
function placeOf(path: string): string {
  return isObjectAddress(path) ? path : realPath(path);
}

/** Whether a name is the address of an object or a table. */
function isAddress(name: string): boolean {
  return isObjectAddress(name) || /^(?:duckdb|postgres(?:ql)?):/i.test(name);
}

/** What does not exist counts as a file, whose table may have been copied before. */
async function isDirectory(path: string): Promise<boolean> {
  const facts = await stat(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw await openError(path, error);
  });
  return facts?.isDirectory() === true;
}

/** Which files of a folder are listed, besides those that the run writes. */
interface FileChoice {
  /** Places of those. */
  readonly own: readonly string[];
  readonly anyFile: boolean;
}

/** What a name that is a folder stands for; null for any other name. */
async function openFolder(
  name: string,
  choice: FileChoice,
): Promise<Required<SeveralInputs> | null> {
  if (isObjectPrefix(name)) {
    return listFolder(name, await (await import("./list-prefix.js")).openPrefix(name), choice);
  }
  if (isAddress(name) || !(await isDirectory(name))) return null;
  const entries = await readdir(name, { withFileTypes: true }).catch(async (error: unknown) => {
    throw await openError(name, error);
  });
  const pathOf = (entry: string): string => join(name, entry);
  const folder: InputFolder = {
    name: `${withoutSlash(name)}/`,
    entries: entries.map((entry) => entry.name),
    pathOf,
    isFile: async (entry) => (await stat(pathOf(entry)).catch(() => null))?.isFile() === true,
    read: readJsonFile,
  };
  return listFolder(name, folder, choice);
}

async function listFolder(
  given: string,
  folder: InputFolder,
  { own, anyFile }: FileChoice,
): Promise<Required<SeveralInputs>> {
  const names = folder.entries.toSorted(byCodeUnit);
  const listed = (name: string): NamedInput => ({
    name: folder.name + name,
    input: { path: folder.pathOf(name) },
  });
  const parts = await listDataSet(folder.name, names, folder.read);
  if (parts !== null) return { inputs: parts.map(listed), skipped: [] };
  if (names.includes(planFile)) await refuseWork(given, folder);
  const inputs: NamedInput[] = [];
  const skipped: SkippedFile[] = [];
  for (const name of names) {
    const skip = (reason: string) =>
      skipped.push({ folder: given, path: folder.name + name, reason });
    const isWanted = anyFile ? !isHidden(name) : isReadable(name);
    if (!isWanted || !(await folder.isFile(name))) skip("not a file of a known format");
    else if (own.includes(placeOf(folder.pathOf(name)))) skip("this run writes it");
    else inputs.push({ ...listed(name), folder: given });
  }
  if (inputs.length > 0) return { inputs, skipped };
  const named = withoutSlash(folder.name);
  throw new UsageError("input_folder_empty", `${named} has no file of a known format`, {
    hint: "name the files one by one; in a folder only .csv, .tsv, .ndjson, .jsonl, .json and .txt are read, also with .gz, .xlsx and .parquet",
  });
}

/** Lists with one item per line have these extensions. */
const lists = /\.(?:txt|text|list|lst|iocs?|ipset|netset)(?:\.gz)?$/i;

/** Files that repute itself writes beside its outputs. */
const ownFiles = /(?:[._]manifest\.json|\.failed)$/;

function isHidden(name: string): boolean {
  return name.startsWith(".") || ownFiles.test(name);
}

function isReadable(name: string): boolean {
  if (isHidden(name)) return false;
  return detectSourceFormat(name).format !== null || lists.test(name) || /\.parquet$/i.test(name);
}

/** Names in a notice. */
const mostNamed = 5;

/** Tells which files of folders are not read: one line per folder and reason. */
export function skippedNotices(skipped: readonly SkippedFile[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { folder, path, reason } of skipped) {
    const where = `${folder}: ${reason}`;
    groups.set(where, [...(groups.get(where) ?? []), basename(path)]);
  }
  return Array.from(groups, ([where, names]) => {
    const named = names.slice(0, mostNamed).join(", ");
    const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
    return `skipping ${named}${more} in ${where}`;
  });
}

/** The plan of a folder that `repute split` made. */
const planFile = "plan.json";

/** @throws UsageError `input_is_work` if the folder holds the chunks of an input */
async function refuseWork(given: string, folder: InputFolder): Promise<void> {
  const path = folder.pathOf(planFile);
  const plan = (await folder.read(path).catch(() => null)) as { plan_id?: unknown } | null;
  if (typeof plan?.plan_id !== "string") return;
  throw new UsageError("input_is_work", `${given} is a work folder of repute split`, {
    hint: `do one of its chunks: repute enrich ${shellWord(given)} --chunk 0`,
  });
}

function withoutSlash(folder: string): string {
  return folder.replace(/(?<=.)\/+$/, "");
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
