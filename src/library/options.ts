import { z } from "zod";
import { apiOptions, caseOptions, opsOptions } from "../client/api/options.js";
import { itemKinds } from "../core/item/item.js";
import { sourceOptions } from "../io/formats/source-options.js";
import { lookupOptions } from "../client/lookup/options.js";
import { sinkOptions } from "../io/output/options.js";
import { runOptions } from "../jobs/enrich/options.js";
import { serviceOptions } from "../service/options.js";
import type { Clock } from "../core/clock.js";
import type { EnrichJob } from "../jobs/enrich/types.js";
import { UsageError } from "../core/errors.js";
import { explainIssue, gotInstead } from "../core/options.js";
import { didYouMean } from "../core/wording/did-you-mean.js";

const secret = z.string().min(1).optional();

/** An object or a function with this method. */
function withMethod<T>(member: string, what: string): z.ZodType<T, T> {
  return z.custom<T>(
    (value) =>
      (typeof value === "object" || typeof value === "function") &&
      value !== null &&
      typeof (value as Record<string, unknown>)[member] === "function",
    `must be ${what}`,
  );
}

/** What a caller may pass. Shapes are classes: their declarations keep the comments of members. */
type InputOf<Shape> = { readonly [Key in keyof Shape]?: z.input<Shape[Key]> };

class ClientShape {
  /** Base address of the threat intelligence interface, up to and including `/beta`. */
  readonly url = apiOptions.shape.intelUrl;
  /** Sent as `x-api-key` to `url`. Default: none is sent. No environment variable is read. */
  readonly apiKey = secret;
  /**
   * Answer from the embedded service and its sample dataset, started with the first call and stopped
   * by `close()`. Not with an address. @default false
   */
  readonly local = z.boolean().default(false);
  /** With `local`: seed of invented answers for every item that the sample dataset doesn't list. */
  readonly synthetic = serviceOptions.shape.synthetic;
  /** Base address of the operations interface (customers, cases), without `/beta`. */
  readonly opsUrl = opsOptions.shape.opsUrl;
  /** Sent as Bearer token to `opsUrl`. */
  readonly accessToken = secret;
  /** Address of the case management instance (case contexts). */
  readonly caseUrl = caseOptions.shape.caseUrl;
  /** Sent as Bearer token to `caseUrl`, and to webhooks of that origin. */
  readonly caseApiKey = secret;
  /** Timeout of one request, connect to last byte: 1ms to 24h. @default "30s" */
  readonly timeout = apiOptions.shape.timeout;
  /** Folder that counts quotas across processes; null counts them in memory. @default `$XDG_STATE_HOME/repute`, else `~/.local/state/repute` */
  readonly stateFolder = z.string().min(1).nullable().optional();
  /** Time, for tests. Default: the machine's own. */
  readonly clock = withMethod<Clock>("monotonic", "a clock").optional();
  /** Receives what a person should know: an unusable cache, an outage. Default: dropped. */
  readonly onWarning = withMethod<(message: string) => void>("call", "a function").optional();
}

const ofLookup = lookupOptions.shape;

/**
 * How a client reaches the service and what it asks. Beside the members here, the flags of
 * `repute enrich` under *Lookups* and *Pace*, with the same meaning and default.
 */
export type ReputeOptions = InputOf<ClientShape & typeof ofLookup>;

const ofSource = sourceOptions.shape;
/** Without `failOn`, which decides an exit code: a library has none. */
const { failOn: _failOn, ...ofRun } = runOptions.shape;
const { output: _output, tagIps: _tagIps, ...ofSink } = sinkOptions.shape;

class FileShape {
  /** Aborting it ends the run cleanly and resumable; `enrichFile` rejects with its reason. */
  readonly signal = withMethod<AbortSignal>("throwIfAborted", "an AbortSignal").optional();
  /** Receives choices a person may want to check: the column with the items. Default: dropped. */
  readonly onNotice = withMethod<NonNullable<EnrichJob["onNotice"]>>(
    "call",
    "a function",
  ).optional();
}

/**
 * How `enrichFile` reads, runs and writes: the flags of `repute enrich`, with the same meaning and
 * default. What is asked, and how fast, is the client's.
 */
export type EnrichFileOptions = InputOf<FileShape & typeof ofSource & typeof ofRun & typeof ofSink>;

class LookupShape {
  /** Read the text as this kind first, before detection. Default: detected. */
  readonly kind = z.enum(itemKinds).nullish();
  /** Aborting it rejects with the signal's reason and cancels open requests. */
  readonly signal = withMethod<AbortSignal>("throwIfAborted", "an AbortSignal").optional();
}

/** Options of one lookup or one stream of lookups. */
export type LookupCall = InputOf<LookupShape>;

const path = z.string().min(1);

/** The options of each method, and the input and output of `enrichFile`. */
export const schemas = {
  client: z.strictObject(new ClientShape()).extend(ofLookup),
  lookup: z.strictObject(new LookupShape()),
  file: z.strictObject(new FileShape()).extend({ ...ofSource, ...ofRun, ...ofSink }),
  ends: z.strictObject({
    input: z.union(
      [path, z.array(path).min(1), withMethod("pipe", "")],
      "must be a path, a list of paths or a readable stream",
    ),
    output: z.union([path, withMethod("write", "")], "must be a path or a writable stream"),
  }),
};

/** @throws UsageError `invalid_setting` that names each wrong option, and `intel_url_missing` */
export function clientSettings(options: ReputeOptions): z.output<typeof schemas.client> {
  const settings = checkedOptions("repute()", schemas.client, options);
  const { url, opsUrl, caseUrl, local } = settings;
  const hasAddress = (url ?? opsUrl ?? caseUrl) !== undefined;
  if (local && hasAddress) {
    const message = "repute(): local and an address exclude each other";
    throw new UsageError("local_and_intel_url", message, {
      hint: "keep one: local for the embedded service, or the address of a real one",
    });
  }
  if (!local && !hasAddress) {
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
  const got = hidden.test(String(key)) ? "" : gotInstead(issue, value);
  return `${String(key)} ${explainIssue(issue)}${got}`;
}

function unknownOption(key: string, schema: z.ZodObject): string {
  const { client, file } = schemas;
  const [other, call] = schema === client ? [file, "enrichFile()"] : [client, "repute()"];
  if (key in other.shape) return `${key} is an option of ${call}`;
  const meant = didYouMean(key, Object.keys(schema.shape));
  return `there is no option ${key}${meant === null ? "" : `; did you mean ${meant}?`}`;
}

/** Keys are never shown, nor addresses, since one may hold a key. */
const hidden = /key|token|url|^(?:workers|input|output)$/i;
