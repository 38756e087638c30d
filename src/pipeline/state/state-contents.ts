import type { Dirent } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { outputFault } from "../../outputs/output-fault.js";

/** What a run keeps in its state folder. Anything else there belongs to somebody else. */
const ownFiles = [
  /^(checkpoint|finished|manifest)\.json(\.new)?$/,
  /^parquet-(groups|rows-\d+)\.ndjson$/,
  /^lock(\.[\w-]+)?$/,
  // Versions before 4 kept all but the records of the journal.
  /^journal\/(records|arrivals-[01]|index-\d+|(data|lock)\.mdb)$/,
  /^quota\/((data|lock)\.mdb(-lock)?$|gate|lock)/,
];

const ownFolders = new Set(["journal", "quota"]);

/** Most names that a message lists. */
const mostNamed = 5;

/**
 * Lists what a state folder holds; nothing where there is none.
 *
 * @throws UsageError `state_folder_foreign` when it holds what no run wrote, or is no folder: it is
 * left as it is
 */
export async function listState(folder: string): Promise<readonly string[]> {
  const facts = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw outputFault(folder, error);
  });
  if (facts === null) return [];
  if (facts.isSymbolicLink()) throw foreign(`${folder} is a symbolic link`);
  if (!facts.isDirectory()) throw foreign(`${folder} is not a folder`);
  const foreigners = await foreignIn(folder);
  if (foreigners.length === 0) return readdir(folder);
  const named = foreigners.slice(0, mostNamed).join(", ");
  const more = foreigners.length > mostNamed ? ` and ${foreigners.length - mostNamed} more` : "";
  throw foreign(`${folder} holds files that repute did not write: ${named}${more}`);
}

/** Removes what a run keeps in a state folder, and the folder where nothing else is left in it. */
export async function removeState(folder: string): Promise<void> {
  const foreigners = await foreignIn(folder);
  if (foreigners.length === 0) {
    await rm(folder, { recursive: true, force: true });
    return;
  }
  const holdsOthers = (name: string): boolean =>
    foreigners.some((foreigner) => foreigner === name || foreigner.startsWith(`${name}/`));
  const entries = await readdir(folder);
  const own = entries.filter((name) => !holdsOthers(name));
  await removeEntries(folder, own);
}

/** Removes these of a state folder; the checkpoint, which tells what the others are, as the last. */
export async function removeEntries(folder: string, names: readonly string[]): Promise<void> {
  const others = names.filter((name) => name !== "checkpoint.json");
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
  if (names.length > others.length) await rm(join(folder, "checkpoint.json"), { force: true });
}

/** @param within a folder of the state folder and a slash */
async function foreignIn(folder: string, within = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(join(folder, within))) {
    const path = within + entry.name;
    if (!entry.isDirectory()) {
      if (!ownFiles.some((form) => form.test(path))) found.push(path);
    } else if (ownFolders.has(path)) found.push(...(await foreignIn(folder, `${path}/`)));
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
    hint: "the run needs this name for its own state: move what is there elsewhere, or write to another output",
  });
}
