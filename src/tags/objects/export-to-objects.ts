import { mkdir, readdir, rename, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "../../core/files/make-folder.js";
import { takeLock } from "../../core/files/run-lock.js";
import { stagingFolder } from "../../objects/staging-folder.js";
import { exportTags } from "../export-tags.js";
import { exportFault } from "../faults.js";
import { ExportFolder } from "../folder/export-folder.js";
import type { ExportIndex } from "../folder/export-index.js";
import { fileEndings } from "../folder/file-stems.js";
import { indexName } from "../folder/generations.js";
import { stateFolder } from "../state/export-state.js";
import type { ExportReport, ExportTagsOptions } from "../types.js";
import { generationsOf, type RemoteExport, RemoteLists } from "./remote-lists.js";

/**
 * Exports the IP lists of tags to object storage. Works on a copy of the current export in the
 * working directory, which is uploaded when it is complete.
 *
 * @param options.folder `s3://BUCKET/KEY`
 * @throws as `exportTags`; UsageError `bad_object_address`, FatalError `export_overtaken`, `object_*`
 */
export async function exportTagsToObjects(options: ExportTagsOptions): Promise<ExportReport> {
  const { keep = 2, signal } = options;
  const lists = new RemoteLists(options.folder);
  const staging = stagingFolder(lists.address);
  const before = await lists.current();
  makeStaging(staging);
  const unlock = await takeLock(join(staging, "lock"));
  const copy = join(staging, "lists");
  try {
    const { current, generations } = await bringUp({ lists, copy, before, keep, signal });
    const report = await exportTags({ ...options, folder: copy, takenGenerations: generations });
    const made = await (await ExportFolder.open(copy)).current();
    if (made !== null && made.generation !== current?.index.generation) {
      await publish({ lists, copy, before: current, keep, signal }, made);
    }
    await wipe(copy);
    return { ...report, folder: lists.address };
  } finally {
    await unlock();
    for (const folder of [copy, staging]) await rmdir(folder).catch(() => undefined);
  }
}

/** Checks early that a place can take an export. @throws as {@link exportTagsToObjects} */
export async function checkTagObjects(address: string): Promise<void> {
  await new RemoteLists(address).current();
}

interface Place {
  readonly lists: RemoteLists;
  /** Local folder with a copy of the current export. */
  readonly copy: string;
  readonly before: RemoteExport | null;
  readonly keep: number;
  readonly signal: AbortSignal | undefined;
}

interface RemoteState {
  readonly current: RemoteExport | null;
  /** Names of all generations, also of those that never became current. */
  readonly generations: ReadonlySet<string>;
}

/** Makes the copy that of the current export. Publishes first what an interrupted command made. */
async function bringUp(place: Place): Promise<RemoteState> {
  const { lists, copy, before } = place;
  const made = await (await ExportFolder.open(copy)).current().catch(() => null);
  const generation = before?.index.generation ?? null;
  if (made !== null && made.previous_generation === generation) await publish(place, made);
  else if (made === null || made.generation !== generation) await fetchCurrent(place);
  else if (existsSync(markOf(copy))) await settle(place, made);
  const current = await lists.current();
  const there = await lists.names();
  const ours = await lists.listsOf(there);
  // A file in the copy keeps an export from using the name.
  for (const name of there) {
    const isName = fileEndings.some((ending) => name.endsWith(`.${ending}`));
    if (isName && !name.includes("/") && !ours.has(name)) await writeFile(join(copy, name), "");
  }
  return { current, generations: generationsOf(there) };
}

async function fetchCurrent({ lists, copy, before }: Place): Promise<void> {
  await wipe(copy);
  if (before === null) return;
  const { generation } = before.index;
  await lists.fetch(before.index, copy, await lists.names());
  if (!existsSync(join(copy, generation, indexName))) return;
  const fresh = join(copy, "current.new");
  await rm(fresh, { force: true });
  await symlink(generation, fresh);
  await rename(fresh, join(copy, "current"));
}

async function publish(place: Place, made: ExportIndex): Promise<void> {
  const { lists, copy, before, signal } = place;
  await writeFile(markOf(copy), "");
  await lists.publish(made, copy, before, signal).catch(async (error: unknown) => {
    const isOvertaken = (error as { readonly code?: unknown }).code === "export_overtaken";
    if (isOvertaken) await wipe(copy);
    throw error;
  });
  await tidy(place, made);
}

/** Repeats what follows the publishing. */
async function settle(place: Place, made: ExportIndex): Promise<void> {
  await place.lists.copyLists(made, place.copy, place.signal);
  await tidy(place, made);
}

/** File that exists from the beginning of a publishing to its end. */
function markOf(copy: string): string {
  return join(copy, ".publishing");
}

async function tidy({ lists, copy, keep }: Place, made: ExportIndex): Promise<void> {
  await lists.tidy(made, keep);
  await rm(markOf(copy), { force: true });
}

function makeStaging(folder: string): void {
  try {
    makeFolder(folder, 0o700);
  } catch (error) {
    throw exportFault(folder, error);
  }
}

/** Removes a copy, but not the pages that the next export continues from. */
async function wipe(copy: string): Promise<void> {
  await mkdir(copy, { recursive: true });
  for (const name of await readdir(copy)) {
    if (name !== stateFolder) await rm(join(copy, name), { recursive: true, force: true });
  }
}
