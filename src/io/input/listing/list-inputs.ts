import { basename, join } from "node:path";
import { isFolder } from "../../../core/files/folders.js";
import { isObjectPrefix } from "../../s3/address.js";
import { listFolder, placeOfFile } from "./list-folder.js";
import {
  type FileInput,
  fileInput,
  type InputFolder,
  type NamedInput,
  type SeveralInputs,
  type SkippedFile,
  type SourceInput,
} from "../types.js";
import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { FatalError, type ReputeError } from "../../../core/errors.js";
import { openError } from "../stored-input.js";

export interface FolderSettings {
  /** The file that the run writes, which is left out. */
  readonly output?: string | undefined;
  readonly recursive?: boolean | undefined;
}

interface ListOptions extends FolderSettings {
  /** Any but hidden ones. @default those of known formats */
  readonly anyFile?: boolean;
  /** Parses the names of inputs. @default files and objects, whatever is in them */
  readonly parse?: (path: string) => FileInput;
}

/**
 * Lists files, tables, and the files in folders, sorted by path.
 *
 * @param names `-` is the stream
 * @throws FatalError `input_unreadable`; as `openPrefix` and `listFolder`
 */
export async function listInputs(
  names: readonly string[],
  stream: () => Extract<SourceInput, { readonly stream: unknown }>,
  { output, recursive = false, anyFile = false, parse = fileInput }: ListOptions = {},
): Promise<Required<SeveralInputs>> {
  const inputs: (readonly NamedInput[])[] = [];
  const skipped: (readonly SkippedFile[])[] = [];
  const own = output === undefined ? [] : [placeOfFile(output)];
  for (const name of names) {
    if (name === "-") {
      inputs.push([{ name, input: stream() }]);
      continue;
    }
    const folder = await openFolder(name, recursive);
    if (folder === null) inputs.push([{ name, input: parse(name) }]);
    else {
      const found = await listFolder(name, folder, { own, anyFile, recursive, parse });
      inputs.push(found.inputs);
      skipped.push(found.skipped);
    }
  }
  return { inputs: inputs.flat(), skipped: skipped.flat() };
}

/** Tells that `--recursive` has no effect, since no input is a folder. */
export function recursiveNotices(
  names: readonly string[],
  { recursive = false }: Pick<FolderSettings, "recursive">,
): readonly string[] {
  if (!recursive || names.some((name) => isFolder(name) || isObjectPrefix(name))) return [];
  const objects = names.some((name) => /^s3:/i.test(name)) ? " (s3:// folders end in /)" : "";
  return [`--recursive has no effect: no input is a folder${objects}`];
}

const mostNamed = 5;

/** Tells which files of folders are not read: one line per folder and reason. */
export function skippedNotices(skipped: readonly SkippedFile[]): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const { folder, path, reason } of skipped) {
    const where = `${folder}: ${reason}`;
    const within = `${folder.replace(/\/+$/, "")}/`;
    const name = path.startsWith(within) ? path.slice(within.length) : basename(path);
    const names = groups.get(where);
    if (names === undefined) groups.set(where, [name]);
    else names.push(name);
  }
  return Array.from(groups, ([where, names]) => {
    const named = names.slice(0, mostNamed).join(", ");
    const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : "";
    return `skipping ${named}${more} in ${where}`;
  });
}

/**
 * Lists the entries of a folder, or of objects under an address; null for any other name.
 *
 * @param recursive whether its subfolders will be opened
 */
async function openFolder(name: string, recursive: boolean): Promise<InputFolder | null> {
  if (isObjectPrefix(name)) {
    return (await import("./list-prefix.js")).openPrefix(name, recursive);
  }
  return (await isDirectory(name)) ? openLocal(name) : null;
}

/** What does not exist counts as a file: an address, or one whose table was copied before. */
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
  const pathOf = (entry: string): string => join(path, entry);
  const others = new Set(entries.filter((entry) => !entry.isFile()).map(({ name }) => name));
  return {
    name: withSlash(path),
    // A link to a folder is none: it may lead back to where it is, or to files that are read anyway.
    entries: entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)),
    pathOf,
    kindOf: async (entry) =>
      others.has(entry) ? kindOf(await stat(pathOf(entry)).catch(() => null)) : "file",
    open: (entry) => openLocal(withSlash(path) + entry.slice(0, -1)),
  };
}

function kindOf(facts: Stats | null): "file" | "folder" | "other" {
  if (facts?.isFile() === true) return "file";
  return facts?.isDirectory() === true ? "folder" : "other";
}

function withSlash(path: string): string {
  return `${path.replace(/(?<=.)\/+$/, "")}/`;
}

async function folderError(path: string, cause: unknown): Promise<ReputeError> {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== "EACCES" && code !== "EPERM") return openError(path, cause);
  return new FatalError("input_unreadable", `no permission to list the folder ${path}`, {
    cause,
    hint: "give the user of this run read and execute permission on it, or name only the other files and folders",
  });
}
