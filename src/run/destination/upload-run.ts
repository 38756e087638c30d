import { basename, dirname } from "node:path";
import { FatalError } from "../../core/errors.js";
import { type CopiedObjects, isStill } from "../../outputs/download-object.js";
import { isMissing, pinObject } from "../../s3/read-object.js";
import { removeObject } from "../../s3/remove-object.js";
import { etagAt } from "../../s3/stored-object.js";
import { abortUpload, type UploadOptions, uploadObject } from "../../s3/upload-object.js";
import { withSuffix } from "../../outputs/data-set/data-set.js";
import type { PartRecord } from "../../outputs/types.js";
import { type PlacedOutput, uploadJournal } from "../../outputs/staged-output.js";
import type { Manifest } from "../types.js";
import { manifestPath } from "./check-paths.js";
import { failedSuffix } from "../../core/files/output-names.js";
import {
  findRecord,
  lookAt,
  manifestAt,
  readRecord,
  removeRecord,
  type UploadRecord,
  keepRecord,
} from "./upload-record.js";

/** The objects of a run. */
interface RunObjects {
  readonly rows: PlacedOutput | null;
  readonly rejects: PlacedOutput | null;
}

export interface UploadRunOptions {
  /** Appended to the names of the objects. */
  readonly suffix: string;
  readonly signal: AbortSignal | undefined;
  /** The files that a retry has read, which are not uploaded again if they stay the same. */
  readonly copied?: CopiedObjects | undefined;
  /** What the run reads, which stays. */
  readonly inputs: readonly string[];
  readonly onWarning: ((message: string) => void) | undefined;
}

/**
 * Uploads the objects of a run, and removes those that it supersedes, `KEY.failed` of an earlier run
 * among them. What another run has written since this one began stays.
 *
 * @throws FatalError `output_replaced`: nothing of this run is left then, and the next attempt
 *   replaces what is there
 */
export async function uploadRun(
  objects: RunObjects,
  manifest: Manifest,
  options: UploadRunOptions,
): Promise<void> {
  await sendAll(objects, manifest, options).catch(async (error: unknown) => {
    if (error instanceof FatalError && error.code === "output_replaced") {
      await withdrawUpload(objects).catch((failed: Error) => {
        options.onWarning?.(`cannot remove the parts of this run: ${failed.message}`);
      });
    }
    throw error;
  });
  if (options.suffix !== "") return;
  await removeFailed(objects, options.inputs).catch((error: unknown) => {
    const { message } = error as Error;
    options.onWarning?.(`cannot remove KEY${failedSuffix} of an earlier run: ${message}`);
  });
}

async function sendAll(
  { rows, rejects }: RunObjects,
  manifest: Manifest,
  { suffix, signal, copied }: UploadRunOptions,
): Promise<void> {
  const sending = ({ path, address, folder }: PlacedOutput): UploadOptions => ({
    path: withSuffix(path, suffix),
    address: withSuffix(address, suffix),
    journal: uploadJournal(folder),
    signal,
  });
  const main = rows ?? rejects;
  if (main === null) return;
  const to = sending(main);
  const beside = rows === null || rejects === null ? [] : [sending(rejects)];
  const note = { ...to, path: manifestPath(to.path), address: manifestPath(to.address) };
  const { parts } = manifest.output;
  if (rows === null || parts === undefined) {
    const { etag: replaces } = await findRecord(main.folder, to.address);
    const etag = await mustReplace({ ...to, replaces });
    const isOurs = async () => ((await etagAt(to.address)) ?? "") === etag;
    for (const file of rows === null ? [] : [...beside, note]) await sendWhile(isOurs, file);
    return;
  }
  const record = await findRecord(main.folder, note.address);
  const replaces = await replaceable(record, manifest);
  await sendParts(record, parts, { to, folder: main.folder, copied });
  const isFree = async () => replaces === undefined || (await etagAt(note.address)) === replaces;
  for (const file of beside) await sendWhile(isFree, file);
  await mustReplace({ ...note, replaces });
  const named = new Set(parts.map(({ name }) => to.address + name));
  for (const part of record.replaced) if (!named.has(part)) await removeObject(part);
}

/** Uploads the parts that are not there yet, under names that no other run uses. */
async function sendParts(
  record: UploadRecord,
  parts: readonly PartRecord[],
  { to, folder, copied }: PartSending,
): Promise<void> {
  const own: string[] = [];
  for (const { name } of parts) {
    const earlier = copied?.get(to.address + name);
    if (earlier !== undefined && (await isStill(earlier, to.path + name))) continue;
    own.push(to.address + name);
  }
  const sent = [...record.sent];
  for (const address of own) {
    if (sent.includes(address)) continue;
    await keepRecord(folder, { ...record, own, sent });
    await mustReplace({ ...to, path: to.path + basename(address), address, replaces: null });
    sent.push(address);
  }
  await keepRecord(folder, { ...record, own, sent });
}

interface PartSending {
  readonly to: UploadOptions;
  readonly folder: string;
  readonly copied: CopiedObjects | undefined;
}

/** Uploads a file. @returns its ETag @throws FatalError `output_replaced` */
async function mustReplace(options: UploadOptions): Promise<string> {
  const etag = await uploadObject(options);
  if (etag === null) throw outputReplaced(options.address);
  return etag;
}

/** Uploads a file that goes with another object, as long as that is this run's. */
async function sendWhile(isOurs: () => Promise<boolean>, options: UploadOptions): Promise<void> {
  for (;;) {
    const replaces = await etagAt(options.address);
    if (!(await isOurs())) throw outputReplaced(options.address);
    if ((await uploadObject({ ...options, replaces })) !== null) return;
  }
}

/** The version of the manifest that may be replaced: that found at the start, or this run's. */
async function replaceable(
  { address, etag }: UploadRecord,
  { run_id, ended_at }: Manifest,
): Promise<string | null | undefined> {
  const now = etag === undefined ? undefined : await etagAt(address);
  if (now === etag || now === undefined) return now;
  const there = await manifestAt(address);
  if (there?.run_id === run_id && there.ended_at === ended_at) return now;
  throw outputReplaced(address);
}

function outputReplaced(address: string): FatalError {
  const message = `another run has written ${address} since this one began`;
  return new FatalError("output_replaced", message, {
    hint: "its output stays; to replace it with the rows of this run, repeat the command, a run with --resume: nothing is asked again",
  });
}

/**
 * Notes which version of the output a new run replaces.
 *
 * @param copied the parts that a retry has read
 */
export async function beginUpload(
  { rows, rejects }: RunObjects,
  copied?: CopiedObjects,
): Promise<void> {
  const main = rows ?? rejects;
  if (main === null) return;
  await removeRecord(main.folder);
  const set = rows?.address.endsWith("/") === true ? rows : null;
  if (set === null) {
    // As in the check of the store, a fault may have passed when the output is complete.
    const found = await lookAt(main.address, null).catch(() => null);
    if (found !== null) await keepRecord(main.folder, found);
    return;
  }
  const found = await lookAt(manifestPath(set.address), set.path);
  if (copied !== undefined && found.replaced.some((part) => !copied.has(part))) {
    throw outputReplaced(found.address);
  }
  await keepRecord(set.folder, found);
}

/** Removes what a run that is given up has uploaded, unless readers use it. */
export async function withdrawUpload({ rows, rejects }: RunObjects): Promise<void> {
  for (const placed of [rows, rejects]) {
    if (placed !== null) await abortUpload(uploadJournal(placed.folder));
  }
  const main = rows ?? rejects;
  if (main === null) return;
  const record = await readRecord(main.folder);
  if (record !== null && record.own.length > 0) {
    const parts = (await manifestAt(record.address))?.output?.parts ?? [];
    const named = new Set(parts.map(({ name }) => `${dirname(record.address)}/${basename(name)}`));
    const isPublished = record.own.every((part) => named.has(part));
    const unused = isPublished ? record.replaced : record.own;
    for (const part of unused) if (!named.has(part)) await removeObject(part);
  }
  await removeRecord(main.folder);
}

/** Removes the objects of an earlier run with too many failures, which its manifest identifies. */
async function removeFailed(
  { rows, rejects }: RunObjects,
  inputs: readonly string[],
): Promise<void> {
  if (rows === null) return;
  const failed = withSuffix(rows.address, failedSuffix);
  if (failed.endsWith("/") && inputs.includes(failed)) return;
  const found = await manifestAt(manifestPath(failed));
  if (found?.exit_reason !== "too_many_failed") return;
  const parts = found.output?.parts?.map(({ name }) => failed + basename(name));
  const left = [
    ...(rejects === null ? [] : [rejects.address + failedSuffix]),
    ...(parts ?? [failed]),
  ];
  for (const address of left) if (!inputs.includes(address)) await removeObject(address);
  // The manifest goes last: the other objects can be recognised only by it.
  if (!inputs.includes(failed)) await removeObject(manifestPath(failed));
}

/** Rows of an object by its manifest; 0 if either is missing. */
export async function earlierRows(address: string): Promise<number> {
  const rows = (await manifestAt(manifestPath(address)))?.output?.rows ?? 0;
  if (rows === 0 || address.endsWith("/")) return rows;
  return pinObject(address).then(
    () => rows,
    (error: unknown) => {
      if (isMissing(error)) return 0;
      throw error;
    },
  );
}
