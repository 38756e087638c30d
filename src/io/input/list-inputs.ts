import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { FatalError, type ReputeError, UsageError } from "../../core/errors.js";
import { realPath } from "../../core/files/folders.js";
import { manifestPath } from "../../core/files/output-names.js";
import { detectSourceFormat } from "../formats/registry.js";
import { isObjectAddress, isObjectPrefix, withBucketSlash } from "../s3/address.js";
import { openError } from "./stored-input.js";
import {
  type FileInput,
  fileInput,
  type NamedInput,
  type SeveralInputs,
  type SkippedFile,
  type SourceInput,
} from "./types.js";

export interface FolderSettings {
  /** The file that the run writes, which is left out. */
  readonly output?: string | undefined;
  readonly recursive?: boolean | undefined;
}

interface ListOptions extends FolderSettings {
  /** Any but hidden ones. @default those of known formats */
  readonly anyFile?: boolean;
  /** Parses an input name. @default a file or an object, whatever it holds */
  readonly parse?: (path: string) => FileInput;
}

/** A folder of files, or of objects. */
interface InputFolder {
  /** Ends in `/`. */
  readonly name: string;
  /** What is in it, in any order. Subfolders end in `/`. */
  readonly entries: readonly string[];
  pathOf(entry: string): string;
  /** What an entry without `/` is; a link is what it leads to. */
  kindOf(entry: string): Promise<"file" | "folder" | "other">;
  open(entry: string): Promise<InputFolder>;
}

/**
 * Lists files, tables, and the files in folders, sorted by path.
 *
 * @param names `-` is the stream
 * @throws UsageError `input_folder_empty`
 * @throws FatalError `input_unreadable`; as listing objects
 */
export async function listInputs(
  names: readonly string[],
  stream: () => Extract<SourceInput, { readonly stream: unknown }>,
  { output, recursive = false, anyFile = false, parse = fileInput }: ListOptions = {},
): Promise<Required<SeveralInputs>> {
  const inputs: NamedInput[] = [];
  const skipped: SkippedFile[] = [];
  const own = output === undefined ? null : placeOfFile(output);
  for (const name of names) {
    const folder = name === "-" ? null : await openFolder(name, recursive);
    if (folder === null) {
      inputs.push({ name, input: name === "-" ? stream() : parse(name) });
    } else {
      const found = await listFolder(name, folder, { own, anyFile, recursive, parse });
      inputs.push(...found.inputs);
      skipped.push(...found.skipped);
    }
  }
  return { inputs, skipped };
}

const mostNamed = 5;

/** Tells which files of folders are not read: one line per folder and reason. */
export function skippedNotices(skipped: readonly SkippedFile[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { folder, path, reason } of skipped) {
    const where = `${folder}: ${reason}`;
    const within = `${folder.replace(/\/+$/, "")}/`;
    const name = path.startsWith(within) ? path.slice(within.length) : basename(path);
    groups.set(where, [...(groups.get(where) ?? []), name]);
  }
  return Array.from(groups, ([where, names]) => {
    const named = names.slice(0, mostNamed).join(", ");
    const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
    return `skipping ${named}${more} in ${where}`;
  });
}

interface FileChoice extends Required<Omit<ListOptions, "output">> {
  /** The place of the run's output. */
  readonly own: string | null;
}

/** The address of an object, or the path of a file with symbolic links resolved. */
function placeOfFile(path: string): string {
  return isObjectAddress(path) ? path : realPath(path);
}

/**
 * Lists the files of a folder, sorted by path whatever the order of its entries.
 *
 * @param given name of the folder, as given
 */
export async function listFolder(
  given: string,
  folder: InputFolder,
  choice: FileChoice,
): Promise<Required<SeveralInputs>> {
  const inputs: NamedInput[] = [];
  const skipped: SkippedFile[] = [];
  const list = async (within: InputFolder): Promise<void> => {
    // Names of folders end in a slash, so that this is the order of whole paths.
    for (const entry of within.entries.toSorted()) {
      const name = within.name + entry;
      const skip = (reason: string): unknown =>
        skipped.push({ folder: given, path: name.replace(/\/$/, ""), reason });
      const reason = await reasonToSkip(within, entry, choice);
      if (reason !== null) {
        skip(reason);
      } else if (entry.endsWith("/")) {
        const opened = await within.open(entry);
        if (isState(opened)) skip("the state of a run");
        else await list(opened);
      } else {
        inputs.push({ name, input: choice.parse(within.pathOf(entry)), folder: given });
      }
    }
  };
  await list(folder);
  if (inputs.length === 0) throw emptyError(folder.name, skipped, choice);
  return { inputs, skipped };
}

/** Rows that have their answers, such as those of last night. To read them again, name them. */
const earlierOutput = "an output of repute";
const subfolder = "a subfolder, which --recursive reads";

async function reasonToSkip(
  folder: InputFolder,
  entry: string,
  { own, anyFile, recursive }: FileChoice,
): Promise<string | null> {
  const isOwn = own !== null && own === placeOfFile(folder.pathOf(entry));
  const writtenNow = isOwn ? "this run writes it" : null;
  if (entry.endsWith("/")) {
    if (entry.startsWith(".")) return "a hidden folder";
    return writtenNow ?? (recursive ? null : subfolder);
  }
  if (entry.startsWith(".")) return "hidden";
  const kind = await folder.kindOf(entry);
  if (kind === "folder") return "a link to a folder";
  if (kind !== "file" || !(anyFile || isReadable(entry))) return "not a file of a known format";
  if (/(?:\.manifest\.json|\.failed)$/.test(entry)) return "a run wrote it beside its output";
  return writtenNow ?? (folder.entries.includes(manifestPath(entry)) ? earlierOutput : null);
}

/** Lists with one item per line have these extensions. */
const lists = /\.(?:txt|text|list|lst|iocs?|ipset|netset)(?:\.gz)?$/i;

function isReadable(name: string): boolean {
  return detectSourceFormat(name).format !== null || lists.test(name) || /\.parquet$/i.test(name);
}

/** Whether a folder holds the state of a run, with the copies of its inputs. */
function isState({ name, entries }: InputFolder): boolean {
  return /\.state(?:\.done)?\/$/.test(name) && entries.includes("run.db");
}

function emptyError(
  folder: string,
  skipped: readonly SkippedFile[],
  { anyFile }: Pick<FileChoice, "anyFile">,
): UsageError {
  const has = `${folder.replace(/(?<=.)\/+$/, "")} has no file${anyFile ? "" : " of a known format"}`;
  const isSkipped = (as: string): boolean => skipped.some(({ reason }) => reason === as);
  const [what, hint] = isSkipped(subfolder)
    ? [", but subfolders", "add --recursive to read the files in them"]
    : isSkipped(earlierOutput)
      ? [", except outputs of repute", "to read them again, name them one by one"]
      : anyFile
        ? ["", "hidden files are not read: name them one by one"]
        : [
            "",
            "name the files one by one; in a folder only .csv, .tsv, .ndjson, .jsonl, .json and .txt are read, also with .gz, .xlsx and .parquet",
          ];
  return new UsageError("input_folder_empty", has + what, { hint });
}

/**
 * Lists the entries of a folder, or of objects under an address; null for any other name.
 *
 * @param recursive whether its subfolders will be opened
 */
async function openFolder(name: string, recursive: boolean): Promise<InputFolder | null> {
  if (!isObjectPrefix(name)) return (await isDirectory(name)) ? openLocal(name) : null;
  const { listObjects } = await import("../s3/read-object.js");
  const address = withBucketSlash(name);
  // One request for a thousand objects, not one for each folder.
  return objectFolder(address, await listObjects(address, recursive ? "all" : "folder"));
}

/** @param keys of its objects, without the address */
function objectFolder(address: string, keys: readonly string[]): InputFolder {
  const within = new Map<string, string[]>();
  for (const key of keys) {
    const end = key.indexOf("/") + 1 || key.length;
    const entry = key.slice(0, end);
    const rest = within.get(entry);
    if (rest === undefined) within.set(entry, [key.slice(end)]);
    else rest.push(key.slice(end));
  }
  // Some programs mark a folder with an empty object of its name.
  within.delete("");
  return {
    name: address,
    entries: [...within.keys()],
    pathOf: (entry) => address + entry,
    kindOf: async () => "file",
    open: async (entry) => objectFolder(address + entry, within.get(entry) ?? []),
  };
}

/** A missing path counts as a file: it may be an address, or a table that was copied before. */
async function isDirectory(path: string): Promise<boolean> {
  const facts = await stat(path).catch(async (error: NodeJS.ErrnoException) => {
    // The query of an address may be longer than any path.
    if (error.code === "ENOENT" || error.code === "ENAMETOOLONG") return null;
    throw await openError(path, error);
  });
  return facts?.isDirectory() === true;
}

async function openLocal(path: string): Promise<InputFolder> {
  const entries = await readdir(path, { withFileTypes: true }).catch(async (error: unknown) => {
    throw await folderError(path, error);
  });
  const name = `${path.replace(/(?<=.)\/+$/, "")}/`;
  const pathOf = (entry: string): string => join(path, entry);
  const others = new Set(entries.filter((entry) => !entry.isFile()).map((entry) => entry.name));
  return {
    name,
    // A link to a folder is none: it may lead back to where it is, or to files that are read anyway.
    entries: entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)),
    pathOf,
    kindOf: async (entry) =>
      others.has(entry) ? kindOf(await stat(pathOf(entry)).catch(() => null)) : "file",
    open: (entry) => openLocal(name + entry.slice(0, -1)),
  };
}

function kindOf(facts: Stats | null): "file" | "folder" | "other" {
  if (facts?.isFile() === true) return "file";
  return facts?.isDirectory() === true ? "folder" : "other";
}

async function folderError(path: string, cause: unknown): Promise<ReputeError> {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== "EACCES" && code !== "EPERM") return openError(path, cause);
  return new FatalError("input_unreadable", `no permission to list the folder ${path}`, {
    cause,
    hint: "give the user of this run read and execute permission on it, or name only the other files and folders",
  });
}
