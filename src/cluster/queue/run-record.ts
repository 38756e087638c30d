import { resolve } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { openSealedJson, sealJson } from "../../core/files/json-file.js";
import { isRedisAddress } from "../../store/redis/redis-address.js";
import type { LookupSettings } from "../../lookup/options.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import { enrichOptions, type EnrichSettings, inGroups } from "../../run/options.js";
import type { EnrichJob } from "../../run/types.js";

/** What the workers have to know about a run besides its plan, in the work folder. */
export interface RunRecord {
  readonly plan: string;
  /** How often the run was resumed. */
  readonly resumed: number;
  /** Settings that are the same for all workers; nothing secret. */
  readonly settings: Pick<EnrichSettings, "lookup" | "service">;
  readonly command: readonly string[];
}

const runRecordName = "run.json";

export async function writeRunRecord(
  work: WorkFolder,
  { plan, resumed }: Pick<RunRecord, "plan" | "resumed">,
  { settings, command }: EnrichJob,
): Promise<void> {
  const { lookup, service } = settings;
  const { cache, exclude } = lookup;
  const isFolder = cache !== undefined && !isRedisAddress(cache);
  const { intelUrl, timeout } = service;
  const record: RunRecord = {
    plan,
    resumed,
    settings: {
      lookup: {
        ...lookup,
        ...(isFolder ? { cache: resolve(cache) } : {}),
        exclude: exclude?.map((path) => resolve(path)),
      },
      service: { intelUrl, timeout },
    },
    command,
  };
  const text = `${sealJson(record)}\n`;
  if ((await work.read(runRecordName)) === text) return;
  await work.remove(runRecordName);
  await work.publish(runRecordName, text);
}

/** @throws FatalError `work_unreadable` */
export async function readRunRecord(work: WorkFolder): Promise<RunRecord | null> {
  const text = await work.read(runRecordName);
  if (text === null) return null;
  const record = openSealedJson(text) as RunRecord | null;
  if (record !== null) return record;
  throw new FatalError("work_unreadable", `${work.pathOf(runRecordName)} is damaged`, {
    hint: "repeat repute enrich with --resume, which writes it again",
  });
}

/**
 * The settings of a worker's chunk.
 *
 * @param own `queue`: address that is the pace's by default; `exclude`: the worker's own lists
 */
export function chunkSettings(
  record: RunRecord,
  { queue, exclude = [] }: { readonly queue: string; readonly exclude?: readonly string[] },
): EnrichSettings {
  const { lookup, service } = record.settings;
  const { pace = queue } = lookup;
  const usual = inGroups(enrichOptions.parse({}));
  return {
    ...usual,
    lookup: { ...lookup, pace, exclude: [...(lookup.exclude ?? []), ...exclude] },
    service,
    run: { ...usual.run, resume: true },
  };
}

/** The work folder and Redis hold no secrets. @throws UsageError `credential_in_address` */
export function refusePasswords({ pace, cache }: LookupSettings): void {
  for (const [name, address] of Object.entries({ pace, cache })) {
    if (address === undefined || !isRedisAddress(address)) continue;
    if (new URL(address).password === "") continue;
    throw new UsageError(
      "credential_in_address",
      `the address of --${name} has a password, which the workers would find in the work folder`,
      { hint: "leave it out, and set REDISCLI_AUTH for every worker" },
    );
  }
}
