import { resolve } from "node:path";
import { UsageError } from "../../core/errors.js";
import type { Withheld } from "../../lookup/withheld.js";
import type { EnrichSettings } from "../../run/options.js";
import { listIdentity } from "../../run/state/fingerprint.js";
import type { WorkFolder } from "./work-folder.js";
import type { WorkPlan } from "./work-plan.js";

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
  { output, rejects }: { readonly output: string; readonly rejects: string },
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
