import type { EnrichJob } from "../../run/types.js";
import type { WorkFolder } from "./work-folder.js";
import type { WorkPlan } from "./work-plan.js";

/** The settings of an attempt: the job's own, where the plan and the merge do not decide. */
export function attemptSettings(
  job: Pick<EnrichJob, "settings">,
  work: WorkFolder,
  plan: WorkPlan,
  { output, rejects }: { readonly output: string; readonly rejects: string },
): EnrichJob["settings"] {
  const { to, ...shared } = plan.settings;
  return {
    ...job.settings,
    ...shared,
    ...noReading,
    from: plan.reading.format,
    to: to === "parquet" ? undefined : to,
    output: work.pathOf(output),
    rejects: work.pathOf(rejects),
    // The merge judges all chunks together.
    maxFailed: { percent: 100 },
    tagIps: undefined,
    gzip: false,
    rowsPerFile: undefined,
    resume: true,
    restart: false,
  };
}

const noReading = {
  header: undefined,
  comment: undefined,
  itemColumn: undefined,
  kindColumn: undefined,
};
