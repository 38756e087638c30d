import { readdir, stat } from "node:fs/promises";
import { basename } from "node:path";
import { UsageError } from "../../core/errors.js";
import { realPath } from "../../core/files/folders.js";
import { manifestPath } from "../../core/files/output-names.js";
import { firstNames } from "../../core/wording/quantity.js";
import { detectSourceFormat } from "../formats/registry.js";
import { isObjectAddress, isObjectPrefix } from "../s3/address.js";
import { openError } from "./open-input.js";
import {
  type FileInput,
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
  /** Whether files of any name are read, not only those of known formats. */
  readonly anyFile?: boolean;
  /** Parses an input name. @default a file or an object, whatever it holds */
  readonly parse?: (path: string) => FileInput;
}

type EntryKind = "file" | "folder" | "other";

/** What is in a folder, or under an address of objects. */
interface Listing {
  /** Ends in `/`. */
  readonly name: string;
  /** By path in it, in any order. Folders that are not looked into end in `/`; a link is what it leads to. */
  readonly entries: ReadonlyMap<string, EntryKind>;
}

/**
 * Lists the inputs in the order of their names; the files of each folder are sorted by path.
 *
 * @param names `-` is the stream
 * @throws UsageError `input_folder_empty`
 * @throws FatalError `input_unreadable`; and what listing objects throws
 */
export async function listInputs(
  names: readonly string[],
  stream: () => Extract<SourceInput, { readonly stream: unknown }>,
  { output, recursive = false, anyFile = false, parse = (path) => ({ path }) }: ListOptions = {},
): Promise<Required<SeveralInputs>> {
  const inputs: NamedInput[] = [];
  const skipped: SkippedFile[] = [];
  const own = output === undefined ? null : placeOfFile(output);
  for (const name of names) {
    const listing = name === "-" ? null : await listingOf(name, recursive);
    if (listing === null) {
      inputs.push({ name, input: name === "-" ? stream() : parse(name) });
    } else {
      const found = chooseFiles(name, listing, { own, anyFile, recursive, parse });
      inputs.push(...found.inputs);
      skipped.push(...found.skipped);
    }
  }
  return { inputs, skipped };
}

/** Tells which files of folders are not read: one line per folder and reason. */
export function skippedNotices(skipped: readonly SkippedFile[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { folder, path, reason } of skipped) {
    const where = `${folder}: ${reason}`;
    const within = `${folder.replace(/\/+$/, "")}/`;
    const name = path.startsWith(within) ? path.slice(within.length) : basename(path);
    groups.set(where, [...(groups.get(where) ?? []), name]);
  }
  return Array.from(groups, ([where, names]) => `skipping ${firstNames(names, 5)} in ${where}`);
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
 * Chooses the files of a folder, sorted by path.
 *
 * @param given name of the folder, as given
 */
export function chooseFiles(
  given: string,
  { name, entries }: Listing,
  choice: FileChoice,
): Required<SeveralInputs> {
  const inputs: NamedInput[] = [];
  const skipped = new Map<string, SkippedFile>();
  // Names of folders end in a slash, so that this is the order of whole paths.
  for (const entry of [...entries.keys()].toSorted()) {
    const [part, reason] = partToSkip(entry, name + entry, entries, choice);
    const path = name + part;
    if (reason !== null) skipped.set(path, { folder: given, path, reason });
    // Some programs mark a folder with an empty object of its name.
    else if (!path.endsWith("/"))
      inputs.push({ name: path, input: choice.parse(path), folder: given });
  }
  if (inputs.length === 0) throw emptyError(name, choice);
  return { inputs, skipped: [...skipped.values()] };
}

/** The file or the folder that is not read, and why; null for a file that is. */
function partToSkip(
  entry: string,
  path: string,
  entries: Listing["entries"],
  { own, anyFile, recursive }: FileChoice,
): readonly [part: string, reason: string | null] {
  for (const { index } of entry.matchAll(/\//g)) {
    const folder = entry.slice(0, index);
    if (/(?:^|\/)\.[^/]*$/.test(folder)) return [folder, "a hidden folder"];
    if (!recursive) return [folder, "a subfolder, which --recursive reads"];
    // It may hold copies of inputs, which must not be read again.
    const isState = /\.state(?:\.done)?$/.test(folder) && entries.has(`${folder}/run.db`);
    if (isState) return [folder, "the state of a run"];
  }
  const reason = (): string | null => {
    if (/(?:^|\/)\.[^/]*$/.test(entry)) return "hidden";
    const kind = entries.get(entry);
    if (kind === "folder") return "a link to a folder";
    if (kind !== "file" || !(anyFile || isReadable(entry))) return "not a file of a known format";
    if (/(?:\.manifest\.json|\.failed)$/.test(entry)) return "a run wrote it beside its output";
    if (own !== null && own === placeOfFile(path)) return "this run writes it";
    // It is enriched already, and read only if it is named itself.
    return entries.has(manifestPath(entry)) ? "an output of repute" : null;
  };
  return [entry, /(?:^|\/)$/.test(entry) ? null : reason()];
}

/** Lists with one item per line have these extensions. */
const lists = /\.(?:txt|text|list|lst|iocs?|ipset|netset)(?:\.gz)?$/i;

function isReadable(name: string): boolean {
  return detectSourceFormat(name).format !== null || lists.test(name) || /\.parquet$/i.test(name);
}

function emptyError(folder: string, { anyFile }: Pick<FileChoice, "anyFile">): UsageError {
  const has = `${folder.replace(/(?<=.)\/+$/, "")} has no file${anyFile ? "" : " of a known format"}`;
  const known = ".csv, .tsv, .ndjson, .jsonl, .json and .txt, also with .gz, .xlsx and .parquet";
  const hint = `read is ${anyFile ? "any file" : known}, except hidden files and outputs of repute: add --recursive for those in subfolders, or name the files one by one`;
  return new UsageError("input_folder_empty", has, { hint });
}

/**
 * Lists a folder, or the objects under an address; null for any other name.
 *
 * @param recursive whether to look into subfolders, except hidden ones
 */
async function listingOf(name: string, recursive: boolean): Promise<Listing | null> {
  if (isObjectPrefix(name)) {
    const { listObjects } = await import("../s3/objects.js");
    const address = name.endsWith("/") ? name : `${name}/`;
    // One request for a thousand objects, not one for each folder.
    const keys = await listObjects(address, recursive ? "all" : "folder");
    return { name: address, entries: new Map(keys.map((key) => [key, "file"])) };
  }
  if (!(await isDirectory(name))) return null;
  const folder = `${name.replace(/(?<=.)\/+$/, "")}/`;
  const entries = new Map<string, EntryKind>();
  const walk = async (within: string): Promise<void> => {
    const path = within === "" ? name : folder + within;
    const found = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
      throw openError(path, error);
    });
    for (const entry of found) {
      const own = within + entry.name;
      // A link to a folder is not followed: it may lead to a folder above, or to files that are read anyway.
      if (entry.isFile()) entries.set(own, "file");
      else if (!entry.isDirectory()) entries.set(own, await kindOf(folder + own));
      else if (recursive && !entry.name.startsWith(".")) await walk(`${own}/`);
      else entries.set(`${own}/`, "folder");
    }
  };
  await walk("");
  return { name: folder, entries };
}

/** A missing path counts as a file: it may be an address, or a table that was copied before. */
async function isDirectory(path: string): Promise<boolean> {
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    // The query of an address may be longer than any path.
    if (error.code === "ENOENT" || error.code === "ENAMETOOLONG") return null;
    throw openError(path, error);
  });
  return facts?.isDirectory() === true;
}

async function kindOf(path: string): Promise<EntryKind> {
  const facts = await stat(path).catch(() => null);
  if (facts?.isFile() === true) return "file";
  return facts?.isDirectory() === true ? "folder" : "other";
}
