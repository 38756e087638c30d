import { z } from "zod";
import { option, wholeNumber } from "../../core/options.js";
import { isObjectAddress } from "../../io/s3/address.js";
import { logFormats } from "../terminal/reporter.js";

export const cliOptions = z.strictObject({
  local: option(z.boolean().default(false), {
    description: "Use the embedded service with its sample dataset. Nothing leaves this machine",
  }),
  synthetic: option(wholeNumber(0, 2 ** 32 - 1).optional(), {
    description:
      "With --local, invent an answer for every item that is not in the dataset. The same seed gives the same answers",
    value: "SEED",
  }),
  report: option(z.string().min(1).optional(), {
    description:
      "When the rows are done, write a page about them to this HTML file; see repute report. {date} and {run_id} are expanded as in -o",
    value: "FILE",
  }),
  against: option(z.string().min(1).optional(), {
    description:
      "Show in the report what changed since this earlier output, or since the previous one, if the name of OUT has {date} or {run_id}, or a date or run ID in its place",
    value: "FILE|previous",
  }),
  json: option(z.boolean().default(false), {
    description:
      "Print JSON: a summary as one object (to stdout if OUT is a file, else to stderr), records one per line",
  }),
  quiet: option(z.boolean().default(false), {
    description: "Print no progress and no summary, only warnings and errors",
    alias: "q",
  }),
  config: option(z.string().min(1).optional(), {
    description:
      "Config file in YAML; its keys are flags without the dashes [default ~/.config/repute/config.yaml]",
    value: "FILE",
  }),
  profile: option(z.string().min(1).optional(), {
    description: 'Section under "profiles" in the config file. It overrides the rest of the file',
    value: "NAME",
  }),
});

const isFile = (path: string): boolean => !isObjectAddress(path);
const fileOnly = "must be a file on this machine: node_exporter reads it there";

export const unattendedOptions = z.strictObject({
  metrics: option(z.string().min(1).refine(isFile, fileOnly).optional(), {
    description:
      "Write metrics of the run to this file as OpenMetrics text, every 15 s and at the end, for the textfile folder of node_exporter",
    value: "FILE",
  }),
  ping: option(z.url({ protocol: /^https?$/, error: "must be an http(s) address" }).optional(), {
    description:
      "Call URL/start when the run starts, then URL or URL/fail with the summary as JSON, as healthchecks.io expects. A failed ping is a warning",
    value: "URL",
  }),
  logFormat: option(z.enum(logFormats).default("text"), {
    description: "Format of stderr: text, or JSON lines with time, level and run id",
  }),
});
