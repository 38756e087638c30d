import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, type ReputeError } from "../../core/errors.js";
import { readJsonFile } from "../../core/files/json-file.js";
import { isObjectAddress, isObjectPrefix } from "../../s3/address.js";
import type { InputFolder } from "../types.js";
import { openError } from "../verify-input.js";

/**
 * Lists the entries of a folder, or of objects under an address; null for any other name.
 *
 * @param recursive whether its subfolders will be opened
 * @throws FatalError `input_unreadable`; for objects as `openPrefix`
 */
export async function openFolder(name: string, recursive: boolean): Promise<InputFolder | null> {
  if (isObjectPrefix(name)) {
    return (await import("./list-prefix.js")).openPrefix(name, recursive);
  }
  return isAddress(name) || !(await isDirectory(name)) ? null : openLocal(name);
}

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
    read: readJsonFile,
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
