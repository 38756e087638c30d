import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../core/clock.js";
import type { ResourceStack } from "../../core/resource-stack.js";
import { findWarehouse } from "../../outputs/registry.js";
import { inputReading } from "../copy/find-table-input.js";
import { needsTable, readKnownItems, withoutKnown } from "../rows/known-items.js";
import type { ReadingSettings, RowHandling, CopyPlace } from "../rows/row-handling.js";
import type { RunInput } from "../../inputs/types.js";
import type { FlatSettings } from "../options.js";
import type { Withheld } from "../../lookup/withheld.js";
import type { PlannedPace } from "./plan-time.js";
import type { PlannedCache } from "./planned-items.js";

export interface PlanJob {
  readonly input: RunInput;
  readonly settings: ReadingSettings &
    Pick<FlatSettings, "lookups" | "output" | "onlyNew" | "prefix" | "limit">;
  /** The rates that the run would obey. */
  readonly paces: readonly PlannedPace[];
  /** What the run would not send. */
  readonly withheld: Withheld;
  /** Answers that the run would already have. @default none */
  readonly cache?: PlannedCache | null;
  readonly signal: AbortSignal;
  /** @default the machine's */
  readonly clock?: Clock;
  readonly onWarning?: (message: string) => void;
  /** As in `EnrichJob`. */
  readonly onNotice?: (message: string) => void;
}

/** Opens the input like a run. What has to be copied goes to a temporary folder. */
export async function openPlannedReading(job: PlanJob, stack: ResourceStack): Promise<RowHandling> {
  const { output, onlyNew } = job.settings;
  if (onlyNew === false) return readingFor(job, stack);
  const table = findWarehouse(output)?.rows ?? null;
  if (table === null) throw needsTable(output);
  const handling = await readingFor(job, stack);
  return withoutKnown(handling, await readKnownItems(job, table, await scratch(stack)));
}

/** Opens the input. What has to be copied goes to a temporary folder. */
export async function readingFor(
  {
    input,
    settings,
    signal,
    onNotice,
  }: Pick<PlanJob, "input" | "signal" | "onNotice"> & {
    readonly settings: ReadingSettings;
  },
  stack: ResourceStack,
): Promise<RowHandling> {
  const handling = await inputReading(input, settings);
  if (handling.copied === undefined) return handling;
  const folder = await scratch(stack);
  const place: CopyPlace = { folder, format: "tsv", keepsNulls: false, signal, onNotice };
  await handling.copied.make(place, false);
  return { ...handling, open: handling.copied.inFolder(place).open };
}

async function scratch(stack: ResourceStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
