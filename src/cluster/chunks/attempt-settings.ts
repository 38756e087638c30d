import { resolve } from "node:path";
import type { EnrichSettings } from "../../run/options.js";
import type { WorkFolder } from "./work-folder.js";
import type { WorkPlan } from "./work-plan.js";

/** The settings of an attempt: those of the job, where the plan and the merge do not decide. */
export function attemptSettings(
  settings: EnrichSettings,
  work: WorkFolder,
  plan: WorkPlan,
  { output, rejects }: { readonly output: string; readonly rejects: string },
): EnrichSettings {
  const { to, lookups, bogons, urlQuery, exclude = [], ...form } = plan.settings;
  // What this machine must not send stays here, whatever the plan says.
  const own = settings.lookup.exclude?.map((path) => resolve(path)) ?? [];
  const lists = [...new Set([...exclude, ...own])];
  return {
    ...settings,
    input: { from: plan.reading.format },
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
