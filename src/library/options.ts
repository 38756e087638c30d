import { z } from "zod";
import type { CallOptions } from "../client/api/types.js";
import type { ExportTagsOptions } from "../jobs/tags/types.js";
import type { PrepareOptions } from "../jobs/webhooks/send.js";
import { apiOptions, caseOptions, opsOptions } from "../client/api/options.js";
import { itemKinds } from "../core/item/item.js";
import { sourceOptions } from "../io/input/source-options.js";
import { lookupOptions } from "../client/lookup/options.js";
import { sinkOptions } from "../io/output/options.js";
import { runOptions } from "../jobs/enrich/options.js";
import { serviceOptions } from "../service/options.js";
import type { Clock } from "../core/clock.js";
import type { EnrichJob } from "../jobs/enrich/types.js";

const secret = z.string().min(1).optional();

/** Callbacks, signals and shared objects: their types say what they are. */
function having<T>(member: string, what: string): z.ZodType<T, T> {
  return z.custom<T>(
    (value) =>
      (typeof value === "object" || typeof value === "function") &&
      value !== null &&
      typeof (value as Record<string, unknown>)[member] === "function",
    `must be ${what}`,
  );
}

/** What a caller may give. Shapes are classes, whose declarations keep the comments of members. */
type InputOf<Shape> = { readonly [Key in keyof Shape]?: z.input<Shape[Key]> };

const ofLookup = lookupOptions.shape;

class ClientShape {
  /** Base address of the threat intelligence interface, up to and including `/beta`. */
  readonly url = apiOptions.shape.intelUrl;
  /** Sent as `x-api-key` to `url`. Default: none is sent. No environment variable is read. */
  readonly apiKey = secret;
  /**
   * Answer from the embedded service and its sample dataset, started with the first call and stopped
   * by `close()`. Excludes the addresses. @default false
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
  /**
   * Endpoints asked for each item. `triage` asks the quick check, and the query only if that shows
   * something. @default ["query", "quick-check"]
   */
  readonly lookups = ofLookup.lookups;
  /** IP addresses in reserved ranges: answer them without a request, or ask the service. @default "local"; "ask" with `local` */
  readonly bogons = ofLookup.bogons;
  /** Files that list what must not be sent, as in `--exclude`. Such items are `unsupported`. */
  readonly exclude = ofLookup.exclude;
  /** `strip` sends URLs without query and fragment. @default "keep" */
  readonly urlQuery = ofLookup.urlQuery;
  /** Maximum open requests, 1 to 4096; each run of `enrichFile` has as many. @default 32; 1024 with `workers` */
  readonly concurrency = ofLookup.concurrency;
  /**
   * Maximum requests per length of time, for everything that the client does: lookups, runs and calls
   * share this pace. A rate per hour or day is a quota on top of the default, counted across processes in
   * `stateFolder`.
   *
   * @default "100/s"; none with `local`
   */
  readonly rate = ofLookup.rate;
  /**
   * The Redis of the workers that make the lookups of this client, `redis://HOST[:PORT]/DB`: the program
   * runs them as `repute worker`. They hold key and rate.
   */
  readonly workers = ofLookup.workers;
  /** Retries of a lookup or call after a transient fault or throttling, 0 to 100. @default 5 */
  readonly retries = ofLookup.retries;
  /** Re-asks of a partial answer, 0 to 100. @default 2 */
  readonly partialRetries = ofLookup.partialRetries;
  /** Timeout of one request, connect to last byte: 1ms to 24h. @default "30s" */
  readonly timeout = apiOptions.shape.timeout;
  /** How long a run keeps probing a service that only fails; then it rejects, resumable. @default "10m" */
  readonly outagePatience = ofLookup.outagePatience;
  /** Folder that keeps answers for later; several processes may share it. Default: no cache. */
  readonly cache = ofLookup.cache;
  /** How long a cached answer is fresh; partial answers expire after a 24th of it. @default "24h" */
  readonly cacheTtl = ofLookup.cacheTtl;
  /** Folder that counts quotas across processes; null counts them in memory. @default `$XDG_STATE_HOME/repute`, else `~/.local/state/repute` */
  readonly stateFolder = z.string().min(1).nullable().optional();
  /** Time, for tests. Default: the machine's own. */
  readonly clock = having<Clock>("monotonic", "a clock").optional();
  /** Receives what a person should know: an unusable cache, an outage. Default: dropped. */
  readonly onWarning = having<(message: string) => void>("call", "a function").optional();
}

export const clientSchema = z.strictObject(new ClientShape());

/** How a client reaches the service and what it asks. Defaults are those of the program. */
export type ReputeOptions = InputOf<ClientShape>;

/** The options of a client, checked and with their defaults. */
export type ClientSettings = z.output<typeof clientSchema>;

const ofSource = sourceOptions.shape;
/** Without `failOn`, which decides an exit code: a library has none. */
const { failOn: _failOn, ...ofRun } = runOptions.shape;
const { output: _output, tagIps: _tagIps, ...ofSink } = sinkOptions.shape;

class FileShape {
  /** Format of the input. Default: by extension, else by its first lines. gzip is detected. */
  readonly from = ofSource.from;
  /**
   * Column with the item; NDJSON: a dotted path, `ips[]` for every element of a list. Several give a
   * row each, named in `rep_column`. Default: found by its contents.
   */
  readonly itemColumn = ofSource.itemColumn;
  /** Column that names the item's kind. Default: one of kind names beside the item column. */
  readonly kindColumn = ofSource.kindColumn;
  /** Column with the TLP mark of the row, for `maxTlp`. Default: one named `tlp` or `marking`. */
  readonly tlpColumn = ofSource.tlpColumn;
  /** Strictest TLP mark that may be sent; others, unknown ones and none are held back. Default: all are sent. */
  readonly maxTlp = ofSource.maxTlp;
  /** False: the first line is data, and columns are named column_1, column_2, … Default: detected. */
  readonly header = ofSource.header;
  /** Separator of cells: one character. Default: detected among comma, semicolon, tab and `|`. */
  readonly delimiter = ofSource.delimiter;
  /** Skip lines that begin with this text. Default: `#` if the input begins with it. */
  readonly comment = ofSource.comment;
  /** Encoding of a text input: a label of the WHATWG. Default: UTF-8, or UTF-16 with a byte order mark. */
  readonly encoding = ofSource.encoding;
  /** Sheet of an Excel workbook. Default: the first. */
  readonly sheet = ofSource.sheet;
  /** Read folders with their subfolders, except hidden ones and links to folders. @default false */
  readonly recursive = ofSource.recursive;
  /** Format of the output. Default: by extension, else that of the input. */
  readonly to = ofSink.to;
  /** NDJSON: one nested member `rep`, or flat columns. @default "nested" */
  readonly shape = ofSink.shape;
  /** What the names of added columns begin with. @default "rep_" */
  readonly prefix = ofSink.prefix;
  /** Add only these columns, in this order, named without the prefix. Default: all. */
  readonly columns = ofSink.columns;
  /** Write only these columns of the input, in this order; `["none"]` for none. Default: all. */
  readonly inputColumns = ofSink.inputColumns;
  /** Write only rows with one of these verdicts or statuses; `none` and `unknown` are verdicts, too. Default: all. */
  readonly only = ofSink.only;
  /** Write one row per kind and item, the first. @default false */
  readonly distinct = ofSink.distinct;
  /** What a table does with the rows: `append`, `merge` (the newest per key) or `replace`. @default "append" */
  readonly mode = ofSink.mode;
  /** With `merge`: columns of the table that identify a row. @default ["rep_kind", "rep_item"] */
  readonly key = ofSink.key;
  /** Read only the first rows, at most this many. Default: all. */
  readonly limit = ofRun.limit;
  /** Folder for the state and manifest of runs without an output file. @default `$XDG_STATE_HOME/repute`, else `~/.local/state/repute` */
  readonly stateDir = ofRun.stateDir;
  /** Continue an interrupted run of the same output; with nothing to continue, start. @default false */
  readonly resume = ofRun.resume;
  /** Start over: discard what an interrupted run of the same output left. @default false */
  readonly restart = ofRun.restart;
  /** Maximum requests of this call, retries included; then it rejects with `EarlyEndError`, resumable. */
  readonly maxRequests = ofRun.maxRequests;
  /** When to reject with `EarlyEndError`, resumable: a local time of day (`05:30`) or `2h` from now. */
  readonly deadline = ofRun.deadline;
  /**
   * Maximum failed rows: a number, or a share of the rows looked up or broken (from 100 rows on). Beyond it
   * the rows are kept as `OUT.failed` and the manifest's `exit_reason` is `too_many_failed`; if none can be
   * looked up, `nothing_to_look_up`. 100% accepts both. @default "50%"
   */
  readonly maxFailed = ofRun.maxFailed;
  /**
   * Minimum rows of the input: a number, or a share of the earlier output's rows (from 100 of them on).
   * Below it the rows are kept as `OUT.failed` and `exit_reason` is `too_few_rows`. 0 accepts any input.
   * @default "50%"
   */
  readonly minRows = ofRun.minRows;
  /** Aborting it ends the run cleanly and resumable; `enrichFile` rejects with its reason. */
  readonly signal = having<AbortSignal>("throwIfAborted", "an AbortSignal").optional();
  /** Called when rows begin to flow, with a cheap function that tells how far the run is. */
  readonly onStart = having<NonNullable<EnrichJob["onStart"]>>("call", "a function").optional();
  /** Receives choices a person may want to check: the column with the items. Default: dropped. */
  readonly onNotice = having<NonNullable<EnrichJob["onNotice"]>>("call", "a function").optional();
}

class LookupShape {
  /** Read the text as this kind first, before detection. Default: detected. */
  readonly kind = z.enum(itemKinds).nullish();
  /** Aborting it rejects with the signal's reason and cancels open requests. */
  readonly signal = having<AbortSignal>("throwIfAborted", "an AbortSignal").optional();
}

export const lookupSchema = z.strictObject(new LookupShape());

/** Options of one lookup or one stream of lookups. */
export type LookupCall = InputOf<LookupShape>;

export const fileSchema = z.strictObject(new FileShape()).extend({ ...ofRun, ...ofSink });

/** How `enrichFile` reads, runs and writes. What is asked, and how fast, is the client's. */
export type EnrichFileOptions = InputOf<typeof ofRun & typeof ofSink & FileShape>;

/** Which lists `exportTags` writes, and how. */
export type TagListOptions = Omit<
  ExportTagsOptions,
  "client" | "source" | "withheld" | "clock" | "onWarning" | "runId"
>;

/** How a webhook is called. */
export interface WebhookCall extends Pick<PrepareOptions, "idempotencyKey">, CallOptions {}
