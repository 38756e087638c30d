import type { Manifest } from "../../core/manifest/manifest.js";
import type { ManifestJob, StartedRun } from "../../run/finish/manifest.js";
import type { OutputTarget } from "../../run/destination/output-target.js";
import { Tally } from "../../run/tally.js";
import type { WorkPlan } from "./work-plan.js";

/** The input of a plan and its settings, as of one run. */
export function plannedJob({ input, settings }: WorkPlan): Omit<ManifestJob, "command"> {
  const { prefix, only, distinct = false } = settings;
  return {
    input: input.path === null ? { stream: null } : { path: input.path },
    settings: { output: { prefix, only, distinct }, run: { limit: undefined } },
  };
}

/**
 * The chunks that are done, as one run.
 *
 * @param resumed how often the run was resumed. Default: how often its chunks were
 */
export function runOfChunks(
  plan: WorkPlan,
  manifests: readonly Manifest[],
  target: OutputTarget,
  resumed = manifests.reduce((total, each) => total + each.resumed, 0),
): StartedRun {
  const tally = new Tally();
  for (const each of manifests) tally.add({ ...each, rows: each.input.rows });
  const startedAt = startOfChunks(plan, manifests);
  const endedAt =
    manifests
      .map(({ ended_at }) => ended_at)
      .sort()
      .at(-1) ?? startedAt;
  const seconds = Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  return {
    source: { reading: plan.reading, kind: plan.input.table?.kind, bytesTotal: plan.input.bytes },
    inputGrew: false,
    target,
    tally,
    checkpointer: { runId: plan.plan_id, startedAt, seconds, resumed },
  };
}

export function startOfChunks(plan: WorkPlan, manifests: readonly Manifest[]): string {
  return manifests.map(({ started_at }) => started_at).sort()[0] ?? plan.created_at;
}
