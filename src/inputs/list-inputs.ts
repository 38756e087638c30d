import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../core/errors.js";
import { readJsonFile } from "../core/files/json-file.js";
import { detectSourceFormat } from "../formats/registry.js";
import { isObjectAddress, isObjectPrefix } from "../objects/address.js";
import { listDataSet } from "./list-data-set.js";
import type { NamedInput, SourceInput } from "./types.js";
import { openError } from "./verify-input.js";

/** A file among several inputs. */
interface ListedFile {
  /** As given; of a folder's file, folder and name. */
  readonly name: string;
  readonly path: string;
}

/** What a list of inputs names. */
export interface ListedInputs {
  readonly inputs: readonly NamedInput[];
  /** What of the folders is not read, as messages. */
  readonly skipped: readonly string[];
}

/**
 * Lists files, tables, and the files of known formats in folders, sorted by name. Of a data set, the
 * files are those that its manifest names.
 *
 * @param names `-` is the stream
 * @throws UsageError `input_folder_empty`; FatalError `input_unreadable`; as `listDataSet`
 */
export async function listInputs(
  names: readonly string[],
  stream: () => Extract<SourceInput, { readonly stream: unknown }>,
): Promise<ListedInputs> {
  const inputs: NamedInput[] = [];
  const skipped: string[] = [];
  for (const name of names) {
    if (name === "-") {
      inputs.push({ name, input: stream() });
      continue;
    }
    const folder = (await openFolder(name)) ?? { files: [{ name, path: name }], skipped: [] };
    for (const { name: shown, path } of folder.files) inputs.push({ name: shown, input: { path } });
    if (folder.skipped.length > 0) skipped.push(skippedNotice(name, folder.skipped));
  }
  return { inputs, skipped };
}

/** Whether a name is the address of an object or a table. */
function isAddress(name: string): boolean {
  return isObjectAddress(name) || /^(?:duckdb|postgres(?:ql)?):/i.test(name);
}

/** What does not exist counts as a file, whose table may have been copied before. */
async function isDirectory(path: string): Promise<boolean> {
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw openError(path, error);
  });
  return facts?.isDirectory() === true;
}

/** A folder of files, or of objects. */
export interface InputFolder {
  /** With a trailing slash. */
  readonly name: string;
  /** What is in it. */
  readonly entries: readonly string[];
  pathOf(entry: string): string;
  isFile(entry: string): Promise<boolean>;
  /** Reads the JSON of a file. */
  readonly read: (path: string) => Promise<unknown>;
}

/** What a name that is a folder stands for; null for any other name. */
async function openFolder(name: string): Promise<FolderFiles | null> {
  if (isObjectPrefix(name)) {
    return listFolder(await (await import("./list-prefix.js")).openPrefix(name));
  }
  if (isAddress(name) || !(await isDirectory(name))) return null;
  const entries = await readdir(name, { withFileTypes: true }).catch((error: unknown) => {
    throw openError(name, error);
  });
  const pathOf = (entry: string): string => join(name, entry);
  return listFolder({
    name: `${withoutSlash(name)}/`,
    entries: entries.map((entry) => entry.name),
    pathOf,
    isFile: async (entry) => (await stat(pathOf(entry)).catch(() => null))?.isFile() === true,
    read: readJsonFile,
  });
}

interface FolderFiles {
  readonly files: readonly ListedFile[];
  readonly skipped: readonly string[];
}

async function listFolder(folder: InputFolder): Promise<FolderFiles> {
  const names = folder.entries.toSorted(byCodeUnit);
  const listed = (name: string): ListedFile => ({
    name: folder.name + name,
    path: folder.pathOf(name),
  });
  const parts = await listDataSet(folder.name, names, folder.read);
  if (parts !== null) return { files: parts.map(listed), skipped: [] };
  const files: ListedFile[] = [];
  const skipped: string[] = [];
  for (const name of names) {
    if (isReadable(name) && (await folder.isFile(name))) files.push(listed(name));
    else skipped.push(name);
  }
  if (files.length > 0) return { files, skipped };
  const named = withoutSlash(folder.name);
  throw new UsageError("input_folder_empty", `${named} has no file of a known format`, {
    hint: "name the files one by one; in a folder only .csv, .tsv, .ndjson, .jsonl, .json and .txt are read, also with .gz, and .parquet",
  });
}

/** Lists with one item per line have these extensions. */
const lists = /\.(?:txt|text|list|lst|iocs?|ipset|netset)(?:\.gz)?$/i;

/** Files that repute itself writes beside its outputs. */
const ownFiles = /(?:[._]manifest\.json|\.failed)$/;

function isReadable(name: string): boolean {
  if (name.startsWith(".") || ownFiles.test(name)) return false;
  return detectSourceFormat(name).format !== null || lists.test(name) || /\.parquet$/i.test(name);
}

/** Names in a notice. */
const mostNamed = 5;

function skippedNotice(folder: string, names: readonly string[]): string {
  const named = names.slice(0, mostNamed).join(", ");
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
  return `skipping ${named}${more} in ${folder}: not a file of a known format`;
}

function withoutSlash(folder: string): string {
  return folder.replace(/(?<=.)\/+$/, "");
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
