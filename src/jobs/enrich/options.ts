import { z } from "zod";
import { apiOptions } from "../../client/api/options.js";
import { duration, option, refuse, wholeNumber } from "../../core/options.js";
import { lookupOptions } from "../../client/lookup/options.js";
import { sinkOptions, tableOptions, writingOptions } from "../../io/output/options.js";
import type { Output } from "../../io/output/output.js";
import { parseOutput } from "../../io/output/registry.js";
import { sourceOptions } from "../../io/formats/source-options.js";
import { failOn, rowLimit } from "./failure-limits.js";

/** When a run continues, and when it ends. */
export const runOptions = z.strictObject({
  stateDir: option(z.string().min(1).optional(), {
    description:
      "Folder for the state and manifest of a run without an output file: stdout, tables [default $XDG_STATE_HOME/repute, else ~/.local/state/repute]",
    value: "DIR",
  }),
  resume: option(z.boolean().default(false), {
    description:
      "Continue an interrupted run. Safe in a cron job: with nothing to resume, it starts; where the input or the settings have changed, it starts over with the answers so far",
  }),
  restart: option(z.boolean().default(false), {
    description: "Start over: discard what an interrupted run left",
  }),
  maxRequests: option(wholeNumber(1).optional(), {
    description:
      "Stop after this many requests, retries included. The run exits with 75 and can be resumed",
    value: "N",
  }),
  limit: option(wholeNumber(1).optional(), {
    description: "Read only the first N rows of the input, for a trial run",
    value: "N",
  }),
  deadline: option(deadline().optional(), {
    description:
      "Stop at a time of day (05:30, local time) or after a duration (2h). The run exits with 75 and can be resumed",
    value: "TIME",
  }),
  failOn: option(failOn().prefault("failed"), {
    description:
      "Exit with 3 if the output has rows of this status: failed, partial, invalid, unsupported or never. Each includes the ones before it. unsupported:90% sets a minimum share of all rows",
    value: "STATUS",
  }),
  maxFailed: option(rowLimit().prefault("50%"), {
    description:
      "Maximum failed rows: a number, or a share of the rows that were looked up or broken. A share applies from 100 such rows on. Beyond it, or if no row can be looked up, the run exits with 1, keeps the rows as OUT.failed and leaves an earlier OUT untouched. 100% accepts both",
    value: "N|P%",
  }),
  minRows: option(rowLimit().prefault("50%"), {
    description:
      "Minimum rows of the input: a number, or a share of the rows of the earlier output, from 100 of them on. With fewer, and with none in any case, the run ends as with --max-failed. 0 accepts any input",
    value: "N|P%",
  }),
});

/** All options of `enrich`, as flags, variables and the config file give them. */
export const enrichOptions = z.strictObject({
  ...sourceOptions.shape,
  ...runOptions.shape,
  ...sinkOptions.shape,
  ...lookupOptions.shape,
  ...apiOptions.shape,
});

/** The same, read. */
export type FlatSettings = z.output<typeof enrichOptions>;

export type OutputSettings = Omit<z.output<typeof writingOptions>, "output"> & {
  readonly output: Output;
  readonly table: z.output<typeof tableOptions>;
};

/** Sorts settings into the groups in which they are declared. @throws UsageError as `parseOutput` */
export function inGroups(settings: FlatSettings) {
  return {
    input: those(settings, sourceOptions),
    output: {
      ...those(settings, writingOptions),
      table: those(settings, tableOptions),
      output: parseOutput(settings.output),
    },
    lookup: those(settings, lookupOptions),
    service: those(settings, apiOptions),
    run: those(settings, runOptions),
  };
}

function those<Group extends z.ZodObject>(settings: z.output<Group>, { shape }: Group) {
  const own = Object.entries(settings).filter(([key]) => Object.hasOwn(shape, key));
  return Object.fromEntries(own) as z.output<Group>;
}

/** When to stop: at the next local time of day, or after a duration. */
type Deadline = { /** As it was given. */ readonly text: string } & (
  | { readonly hours: number; readonly minutes: number }
  | { readonly afterMs: number }
);

function deadline(): z.ZodType<Deadline, string> {
  const length = duration();
  return z.string().transform((value, context): Deadline => {
    const text = value.trim();
    const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
    if (hours !== undefined) return { text, hours: Number(hours), minutes: Number(minutes) };
    const after = length.safeParse(text);
    if (after.success && after.data > 0) return { text, afterMs: after.data };
    return refuse(context, "must be a time of day such as 05:30, or a length of time such as 2h");
  });
}
