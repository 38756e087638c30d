import { type Dirent, rmdirSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { outputFault } from "../../outputs/output-fault.js";

/** Files that a run keeps in its state folder. Any other file there is foreign. */
const ownFiles = [
  /^(begun|checkpoint|finished|manifest)\.json(\.new)?$/,
  /^(input-\d+\/)?input\.(tsv|ndjson|json|parquet)(\.new)?$/,
  /^rows\.part$/,
  /^parts\/part-\d{5,}\.(csv|tsv|ndjson|parquet)(\.gz)?(\.part)?$/,
  /^(known-items(\.new)?|seen-items\.part)$/,
  /^lock(\.holder)?$/,
  /^(journal|earlier)\/(records|checkpoint\.json(\.new)?)$/,
];

const ownFolders = /^(journal|earlier|input-\d+|parts)$/;

/** Maximum number of names in a message. */
const maxNamed = 5;

/**
 * Lists a state folder; empty if it does not exist.
 *
 * @throws UsageError `state_folder_foreign` if it is not a folder or holds foreign files, which
 *   stay untouched
 */
export async function listState(folder: string): Promise<readonly string[]> {
  const facts = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw outputFault(folder, error);
  });
  if (facts === null) return [];
  if (facts.isSymbolicLink()) throw foreign(`${folder} is a symbolic link`);
  if (!facts.isDirectory()) throw foreign(`${folder} is not a folder`);
  const foreignPaths = await foreignIn(folder);
  if (foreignPaths.length === 0) return readdir(folder);
  const named = foreignPaths.slice(0, maxNamed).join(", ");
  const more = foreignPaths.length > maxNamed ? ` and ${foreignPaths.length - maxNamed} more` : "";
  throw foreign(`${folder} holds files that repute did not write: ${named}${more}`);
}

/**
 * Removes a run's files from a state folder, and the folder itself unless it holds foreign files.
 */
export async function removeState(folder: string): Promise<void> {
  const foreignPaths = await foreignIn(folder);
  if (foreignPaths.length === 0) {
    await rm(folder, { recursive: true, force: true });
    return;
  }
  const holdsOthers = (name: string): boolean =>
    foreignPaths.some((path) => path === name || path.startsWith(`${name}/`));
  const entries = await readdir(folder);
  const own = entries.filter((name) => !holdsOthers(name));
  await removeEntries(folder, own);
}

/** Removes entries of a state folder. The checkpoint goes last, since it describes the others. */
export async function removeEntries(folder: string, names: readonly string[]): Promise<void> {
  const others = names.filter((name) => name !== "checkpoint.json");
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
  if (names.length > others.length) await rm(join(folder, "checkpoint.json"), { force: true });
}

/** Removes a state folder unless it holds foreign files. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}

/** @param within a subfolder of the state folder with a trailing slash */
async function foreignIn(folder: string, within = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(join(folder, within))) {
    const path = within + entry.name;
    if (!entry.isDirectory()) {
      if (!ownFiles.some((form) => form.test(path))) found.push(path);
    } else if (ownFolders.test(path)) found.push(...(await foreignIn(folder, `${path}/`)));
    else found.push(path);
  }
  return found;
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw outputFault(folder, error);
  }
}

function foreign(what: string): UsageError {
  return new UsageError("state_folder_foreign", what, {
    hint: "the run needs this name for its state: move those files elsewhere, or write to another output",
  });
}

/** Locks belong to no run. */
export function belongsToRun(name: string): boolean {
  return !name.startsWith("lock");
}
