import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { takeLock } from "../../core/files/run-lock.js";
import type { SourceFormat } from "../../formats/types.js";
import { statePath } from "../../run/state/state-folder.js";
import type { WorkFolder } from "./work-folder.js";
import { type ChunkFormat, chunkName, type PlannedChunk, type WorkPlan } from "./work-plan.js";
import { belongsToRun } from "../../run/state/own-files.js";

const extensions: Partial<Record<ChunkFormat, string>> = {
  parquet: "rows",
  ecs: "ndjson",
  ocsf: "ndjson",
  "es-bulk": "ndjson",
  "splunk-hec": "ndjson",
};
const rejectsExtensions: Partial<Record<SourceFormat, string>> = { text: "txt" };

/** Names of an attempt's files. */
export function attemptNames(
  { settings: { to }, reading }: WorkPlan,
  chunk: PlannedChunk,
  attempt: string,
) {
  const base = `${chunkName(chunk.chunk)}.${attempt}`;
  const output = `${base}.${extensions[to] ?? to}`;
  const rejects = `${base}.rejects.${rejectsExtensions[reading.format] ?? reading.format}`;
  return { output, rejects, state: statePath(output), copy: `${base}.input` };
}

/** Attempts at a chunk that were interrupted on this machine, or are in progress. */
export async function openAttempts(
  work: WorkFolder,
  { chunk }: PlannedChunk,
): Promise<readonly string[]> {
  const form = new RegExp(`^${chunkName(chunk)}\\.([0-9a-f]{8})\\.[a-z]+\\.state$`);
  return (await work.localNames()).flatMap((name) => form.exec(name)?.[1] ?? []).sort();
}

/**
 * Whether an attempt can be continued: not while another process is at it, nor once it is complete.
 * Its name must not be used again then.
 */
export async function attemptStand(
  work: WorkFolder,
  state: string,
): Promise<"open" | "busy" | "gone"> {
  const folder = work.pathOf(state);
  const unlock = await takeLock(join(folder, "lock")).catch(() => null);
  if (unlock === null) return existsSync(folder) ? "busy" : "gone";
  await unlock();
  const names = await readdir(folder).catch(() => []);
  return names.some(belongsToRun) ? "open" : "gone";
}

/** Removes what interrupted attempts at a chunk that is done have left on this machine. */
export async function clearAttempts(work: WorkFolder, chunk: PlannedChunk): Promise<void> {
  const prefix = `${chunkName(chunk.chunk)}.`;
  const names = (await work.localNames()).filter((name) => name.startsWith(prefix));
  for (const name of names.filter((each) => each.endsWith(".state"))) {
    // Nothing else of an attempt in progress may go.
    const unlock = await takeLock(join(work.pathOf(name), "lock")).catch(() => null);
    if (unlock === null) return;
    await unlock();
  }
  for (const name of names) await work.clear(name);
  await work.close();
}

/** Removes the local files of an attempt that has ended. */
export async function clearAttempt(
  work: WorkFolder,
  {
    state,
    copy,
    kept,
  }: { readonly state: string; readonly copy: string; readonly kept: readonly string[] },
): Promise<void> {
  await rm(work.pathOf(state), { recursive: true, force: true });
  for (const name of kept) await work.clear(name);
  await rm(work.pathOf(copy), { force: true });
  await work.close();
}

/** Discards what interrupted attempts have left on this machine. Those in progress stay. */
export async function discardAttempts(
  work: WorkFolder,
  plan: WorkPlan,
  chunk: PlannedChunk,
): Promise<void> {
  for (const attempt of await openAttempts(work, chunk)) {
    const { state } = attemptNames(plan, chunk, attempt);
    if ((await attemptStand(work, state)) !== "open") continue;
    const prefix = `${chunkName(chunk.chunk)}.${attempt}.`;
    const names = (await work.localNames()).filter((name) => name.startsWith(prefix));
    for (const name of names) await rm(work.pathOf(name), { recursive: true, force: true });
  }
}

/** Removes the local files of an attempt that failed, unless it can be continued. */
export async function clearUnlessOpen(
  work: WorkFolder,
  { state, copy }: { readonly state: string; readonly copy: string },
): Promise<void> {
  await rmdir(work.pathOf(state)).catch(() => undefined);
  if (!existsSync(work.pathOf(state))) await rm(work.pathOf(copy), { force: true });
  await work.close();
}

/** Releases an attempt whose files could not be published, so that this process can continue it. */
export async function unlockAttempt(work: WorkFolder, state: string): Promise<void> {
  await rm(join(work.pathOf(state), "lock"), { force: true });
}
