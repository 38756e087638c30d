import type { z } from "zod";
import { UsageError } from "../core/errors.js";
import { explainIssue, nearestAllowed } from "../core/option-issue.js";
import { didYouMean } from "../core/text/did-you-mean.js";
import {
  type ClientSettings,
  clientSchema,
  fileSchema,
  lookupSchema,
  type ReputeOptions,
} from "./options.js";
import type { LookupCall } from "./result.js";

/** @throws UsageError `invalid_setting` that names each wrong option, and `intel_url_missing` */
export function clientSettings(options: ReputeOptions): ClientSettings {
  const settings = checkedOptions("repute()", clientSchema, options);
  const { url, opsUrl, caseUrl, local } = settings;
  const addresses = [url, opsUrl, caseUrl].filter((address) => address !== undefined);
  if (local && addresses.length > 0) {
    throw new UsageError(
      "local_and_intel_url",
      "repute(): local and an address exclude each other",
      {
        hint: "keep one: local for the embedded service, or the address of a real one",
      },
    );
  }
  if (!local && addresses.length === 0) {
    throw new UsageError("intel_url_missing", "repute(): url is missing", {
      hint: 'give the address of the service, as in repute({ url: "https://intel.example/beta" }), or try repute({ local: true })',
    });
  }
  if (!local && settings.synthetic !== undefined) {
    throw new UsageError("synthetic_without_local", "repute(): synthetic needs local: true");
  }
  return settings;
}

/** @throws UsageError `invalid_setting` that names each wrong option */
export function lookupSettings(call: string, options: LookupCall): z.output<typeof lookupSchema> {
  return checkedOptions(call, lookupSchema, options);
}

/** @throws UsageError `invalid_setting` unless items can be taken from it one by one */
export function checkItems(inputs: unknown): void {
  const isObject = typeof inputs === "object" && inputs !== null;
  if (isObject && (Symbol.asyncIterator in inputs || Symbol.iterator in inputs)) return;
  throw new UsageError("invalid_setting", "lookupAll(): the items must be a list or a stream", {
    hint: "for a single item, call lookup()",
  });
}

/** @throws UsageError `invalid_setting` that names each wrong option */
export function checkedOptions<Schema extends z.ZodObject>(
  call: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> {
  const result = schema.safeParse(options);
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `${call}: ${lineOf(issue, options, schema)}`);
  throw new UsageError("invalid_setting", [...new Set(lines)].join("\n"));
}

function lineOf(issue: z.core.$ZodIssue, options: unknown, schema: z.ZodObject): string {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => unknownOption(key, schema)).join("; ");
  }
  const [key] = issue.path;
  if (key === undefined) return `the options ${explainIssue(issue)}`;
  const value = (options as Record<PropertyKey, unknown>)[key];
  return `${String(key)} ${explainIssue(issue)}${got(String(key), value, issue)}`;
}

function unknownOption(key: string, schema: z.ZodObject): string {
  const other = schema === clientSchema ? fileSchema : clientSchema;
  const place = schema === clientSchema ? "enrichFile()" : "repute()";
  if (key in other.shape) return `${key} is an option of ${place}`;
  const meant = didYouMean(key, Object.keys(schema.shape));
  return `there is no option ${key}${meant === null ? "" : `; did you mean ${meant}?`}`;
}

/** Keys and addresses, which may hold one, are never shown. */
const hidden = /key|token|url|^workers$/i;

function got(key: string, value: unknown, issue: z.core.$ZodIssue): string {
  if (hidden.test(key)) return "";
  const text = JSON.stringify(value) ?? typeof value;
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return `; got ${shown}${nearestAllowed(issue, value)}`;
}
