import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../core/errors.js";
import { detectSourceFormat } from "../formats/registry.js";
import { isObjectAddress } from "../objects/address.js";
import { openError } from "./verify-input.js";

/** A file among several inputs. */
interface ListedFile {
  /** As given; of a folder's file, folder and name. */
  readonly name: string;
  readonly path: string;
}

/** Files and folders as a list of files. */
export interface ListedInputs {
  readonly files: readonly ListedFile[];
  /** What of the folders is not read, as messages. */
  readonly skipped: readonly string[];
}

/**
 * Lists files, and the files of known formats in folders, sorted by name.
 * @param paths `-` stands for itself
 * @throws UsageError `input_not_found`, `input_folder_empty`; FatalError `input_unreadable`
 */
export async function listInputs(paths: readonly string[]): Promise<ListedInputs> {
  const files: ListedFile[] = [];
  const skipped: string[] = [];
  for (const path of paths) {
    const isFolder = path !== "-" && !isObjectAddress(path) && (await isDirectory(path));
    if (!isFolder) {
      files.push({ name: path, path });
      continue;
    }
    const folder = await listFolder(path);
    files.push(...folder.files);
    if (folder.skipped.length > 0) skipped.push(skippedNotice(path, folder.skipped));
  }
  return { files, skipped };
}

/** @throws UsageError `input_not_found`; FatalError `input_unreadable` */
async function isDirectory(path: string): Promise<boolean> {
  const facts = await stat(path).catch((error: unknown) => {
    throw openError(path, error);
  });
  return facts.isDirectory();
}

async function listFolder(
  folder: string,
): Promise<{ readonly files: readonly ListedFile[]; readonly skipped: readonly string[] }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw openError(folder, error);
  });
  const files: ListedFile[] = [];
  const skipped: string[] = [];
  const names = entries.map((entry) => entry.name).toSorted(byCodeUnit);
  for (const name of names) {
    const path = join(folder, name);
    const isFile = (await stat(path).catch(() => null))?.isFile() === true;
    if (isFile && isReadable(name)) files.push({ name: `${withoutSlash(folder)}/${name}`, path });
    else skipped.push(name);
  }
  if (files.length > 0) return { files, skipped };
  throw new UsageError("input_folder_empty", `${folder} has no file of a known format`, {
    hint: "name the files one by one; in a folder only .csv, .tsv, .ndjson, .jsonl, .json and .txt are read, also with .gz",
  });
}

/** Lists with one item per line have these extensions. */
const lists = /\.(?:txt|text|list|lst|iocs?|ipset|netset)(?:\.gz)?$/i;

/** Files that repute itself writes beside its outputs. */
const ownFiles = /(?:\.manifest\.json|\.failed)$/;

function isReadable(name: string): boolean {
  if (name.startsWith(".") || ownFiles.test(name)) return false;
  return detectSourceFormat(name).format !== null || lists.test(name);
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
