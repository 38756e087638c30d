import { z } from "zod";
import { option } from "../../core/options.js";
import { isObjectAddress } from "../../io/s3/address.js";
import { logFormats } from "../terminal/reporter.js";

const isFile = (path: string): boolean => !isObjectAddress(path);
const fileOnly = "must be a file on this machine: node_exporter reads it there";

export const unattendedOptions = z.strictObject({
  metrics: option(z.string().min(1).refine(isFile, fileOnly).optional(), {
    description:
      "Write metrics of the run to this file as OpenMetrics text, every 15 s and at the end, for the textfile folder of node_exporter",
    value: "FILE",
  }),
  ping: option(z.string().refine(isWebAddress, "must be an http(s) address").optional(), {
    description:
      "Call URL/start when the run starts, then URL or URL/fail with the summary as JSON, as healthchecks.io expects. A failed ping is a warning",
    value: "URL",
  }),
  logFormat: option(z.enum(logFormats).default("text"), {
    rare: true,
    description: "Format of stderr: text, or JSON lines with time, level and run id",
  }),
});

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}
