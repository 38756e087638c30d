import { UsageError } from "../../../core/errors.js";
import { manifestPath } from "../../../core/files/output-names.js";
import { realPath } from "../../../core/files/folders.js";
import { detectSourceFormat } from "../../formats/registry.js";
import { isObjectAddress } from "../../s3/address.js";
import type { FileInput, InputFolder, NamedInput, SeveralInputs, SkippedFile } from "../types.js";

interface FileChoice {
  readonly own: readonly string[];
  /** Any but hidden ones, not only those of known formats. */
  readonly anyFile: boolean;
  readonly recursive: boolean;
  readonly parse: (path: string) => FileInput;
}

/**
 * Lists the files of a folder, sorted by path whatever the order of its entries.
 *
 * @param given name of the folder, as given
 * @throws UsageError `input_folder_empty`; as opening a subfolder
 */
export async function listFolder(
  given: string,
  folder: InputFolder,
  choice: FileChoice,
): Promise<Required<SeveralInputs>> {
  const inputs: NamedInput[] = [];
  const skipped: SkippedFile[] = [];
  for await (const { name, path, reason } of filesIn(folder, choice)) {
    if (reason === null) inputs.push({ name, input: choice.parse(path), folder: given });
    else skipped.push({ folder: given, path: name, reason });
  }
  if (inputs.length === 0) throw emptyError(folder.name, skipped, choice);
  return { inputs, skipped };
}

/** The address of an object, or the path of a file with symbolic links resolved. */
export function placeOfFile(path: string): string {
  return isObjectAddress(path) ? path : realPath(path);
}

/** A file of a folder, and why it is not read; null if it is. */
interface Found {
  readonly name: string;
  readonly path: string;
  readonly reason: string | null;
}

function placeIn(folder: InputFolder, entry: string): Pick<Found, "name" | "path"> {
  return { name: folder.name + entry, path: folder.pathOf(entry) };
}

/** Rows that have their answers, such as those of last night. To read them again, name them. */
const earlierOutput = "an output of repute";
const writtenNow = "this run writes it";
const subfolder = "a subfolder, which --recursive reads";

async function* filesIn(folder: InputFolder, choice: FileChoice): AsyncGenerator<Found> {
  // Names of folders end in a slash, so that this is the order of whole paths.
  for (const entry of folder.entries.toSorted(byCodeUnit)) {
    if (entry.endsWith("/")) yield* filesOfSubfolder(folder, entry, choice);
    else yield { ...placeIn(folder, entry), reason: await reasonToSkip(folder, entry, choice) };
  }
}

async function reasonToSkip(
  folder: InputFolder,
  entry: string,
  { own, anyFile }: FileChoice,
): Promise<string | null> {
  if (entry.startsWith(".")) return "hidden";
  const kind = await folder.kindOf(entry);
  if (kind === "folder") return "a link to a folder";
  if (kind !== "file" || !(anyFile || isReadable(entry))) return "not a file of a known format";
  if (ownFiles.test(entry)) return "a run wrote it beside its output";
  if (own.includes(placeOfFile(folder.pathOf(entry)))) return writtenNow;
  return folder.entries.includes(manifestPath(entry)) ? earlierOutput : null;
}

async function* filesOfSubfolder(
  folder: InputFolder,
  entry: string,
  choice: FileChoice,
): AsyncGenerator<Found> {
  const skip = (reason: string): Found => ({ ...placeIn(folder, entry.slice(0, -1)), reason });
  if (entry.startsWith(".")) return yield skip("a hidden folder");
  if (choice.own.includes(placeOfFile(folder.pathOf(entry)))) return yield skip(writtenNow);
  if (!choice.recursive) return yield skip(subfolder);
  const opened = await folder.open(entry);
  if (isState(opened)) return yield skip("the state of a run");
  yield* filesIn(opened, choice);
}

/** Lists with one item per line have these extensions. */
const lists = /\.(?:txt|text|list|lst|iocs?|ipset|netset)(?:\.gz)?$/i;

function isReadable(name: string): boolean {
  return detectSourceFormat(name).format !== null || lists.test(name) || /\.parquet$/i.test(name);
}

const ownFiles = /(?:\.manifest\.json|\.failed)$/;

/** Entries of which the state folder of any run has one. */
const stateEntries = ["lock", "checkpoint.json", "finished.json", "journal/", "earlier/"];

/** Whether a folder holds the state of a run, with the copies of its tables. */
function isState({ name, entries }: InputFolder): boolean {
  const isNamed = /\.state(?:\.done)?\/$/.test(name);
  return isNamed && stateEntries.some((entry) => entries.includes(entry));
}

function emptyError(
  folder: string,
  skipped: readonly SkippedFile[],
  { anyFile }: FileChoice,
): UsageError {
  const has = `${folder.replace(/(?<=.)\/+$/, "")} has no file${anyFile ? "" : " of a known format"}`;
  if (skipped.some(({ reason }) => reason === subfolder)) {
    return new UsageError("input_folder_empty", `${has}, but subfolders`, {
      hint: "add --recursive to read the files in them",
    });
  }
  if (skipped.some(({ reason }) => reason === earlierOutput)) {
    return new UsageError("input_folder_empty", `${has}, except outputs of repute`, {
      hint: "to read them again, name them one by one",
    });
  }
  return new UsageError("input_folder_empty", has, {
    hint: anyFile
      ? "hidden files are not read: name them one by one"
      : "name the files one by one; in a folder only .csv, .tsv, .ndjson, .jsonl, .json and .txt are read, also with .gz, .xlsx and .parquet",
  });
}

function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
