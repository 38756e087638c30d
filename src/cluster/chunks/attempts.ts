import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { UsageError } from "../../core/errors.js";
import { takeLock } from "../../core/files/run-lock.js";
import type { SourceFormat } from "../../formats/types.js";
import type { Withheld } from "../../lookup/withheld.js";
import type { EnrichSettings } from "../../run/options.js";
import { listIdentity } from "../../run/state/fingerprint.js";
import { StateFiles } from "../../run/state/state-files.js";
import { statePath } from "../../run/state/state-files.js";
import type { WorkFolder } from "./work-folder.js";
import { type ChunkFormat, chunkName, type PlannedChunk, type WorkPlan } from "./work-plan.js";

const extensions: Partial<Record<ChunkFormat, string>> = {
  parquet: "rows",
  ecs: "ndjson",
  "es-bulk": "ndjson",
};
const rejectsExtensions: Partial<Record<SourceFormat, string>> = { text: "txt" };

/** Names of an attempt's files. */
export type AttemptNames = ReturnType<typeof attemptNames>;

export function attemptNames(
  { settings: { to }, reading }: WorkPlan,
  chunk: PlannedChunk,
  attempt: string,
) {
  const base = `${chunkName(chunk.chunk)}.${attempt}`;
  const output = `${base}.${extensions[to] ?? to}`;
  const rejects = `${base}.rejects.${rejectsExtensions[reading.format] ?? reading.format}`;
  return { output, rejects, state: statePath(output) };
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
  const names = await new StateFiles(folder).list();
  return names.length > 0 ? "open" : "gone";
}

/** Removes what attempts at a chunk have left on this machine, unless one is in progress. */
export async function clearAttempts(work: WorkFolder, chunk: PlannedChunk): Promise<void> {
  const prefix = `${chunkName(chunk.chunk)}.`;
  const names = (await work.localNames()).filter((name) => name.startsWith(prefix));
  for (const name of names.filter((each) => each.endsWith(".state"))) {
    if ((await attemptStand(work, name)) === "busy") return;
  }
  for (const name of names) await rm(work.pathOf(name), { recursive: true, force: true });
  await work.close();
}

/** Removes the local files of an attempt that has ended, but for those that are published. */
export async function clearAttempt(
  work: WorkFolder,
  { state }: AttemptNames,
  published: readonly string[],
): Promise<void> {
  await rm(work.pathOf(state), { recursive: true, force: true });
  for (const name of published) await work.clear(name);
  await work.close();
}

/**
 * Refuses lists that have changed since the input was split: the chunks done before were held back, or
 * sent, by the lists as they were.
 *
 * @throws UsageError `exclusions_changed`
 */
export function refuseChangedLists(
  { settings: { exclude } }: WorkPlan,
  { lists }: Pick<Withheld, "lists">,
): void {
  for (const planned of exclude) {
    const list = lists.find(({ path }) => path === planned.path);
    if (list === undefined || list.sha256 === planned.sha256) continue;
    throw new UsageError(
      "exclusions_changed",
      `the exclusion list has changed since the input was split: it was ${listIdentity(planned)}, now ${listIdentity(list)}`,
      { hint: "restore it, or split the input again" },
    );
  }
}

/** The settings of an attempt: those of the job, where the plan and the merge do not decide. */
export function attemptSettings(
  settings: EnrichSettings,
  work: WorkFolder,
  plan: WorkPlan,
  { output, rejects }: AttemptNames,
): EnrichSettings {
  const { to, lookups, bogons, urlQuery, exclude, ...form } = plan.settings;
  // What this machine must not send stays here, whatever the plan says.
  const own = settings.lookup.exclude?.map((path) => resolve(path)) ?? [];
  const lists = [...new Set([...exclude.map(({ path }) => path), ...own])];
  return {
    ...settings,
    input: { from: plan.reading.format, recursive: false },
    output: {
      ...settings.output,
      ...form,
      // Rows of Parquet and tables stay staged until the merge publishes them.
      to: to === "parquet" ? undefined : to,
      output: work.pathOf(output),
      rejects: work.pathOf(rejects),
      tagIps: undefined,
      gzip: false,
      rowsPerFile: undefined,
    },
    lookup: {
      ...settings.lookup,
      lookups,
      bogons,
      urlQuery,
      exclude: lists.length === 0 ? undefined : lists,
    },
    // The merge judges all chunks together.
    run: { ...settings.run, maxFailed: { percent: 100 }, resume: true, restart: false },
  };
}
