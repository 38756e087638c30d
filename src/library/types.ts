import type { Clock } from "../core/clock.js";
import type { ItemKind } from "../core/item/item.js";
import type { Rate } from "../core/options.js";
import type { Priority } from "../store/redis/redis-address.js";
import type { SinkFormat, SourceFormat } from "../formats/types.js";
import type { LookupChoice } from "../lookup/options.js";
import type { RequestPace } from "../lookup/pace/request-pace.js";
import type { CallOptions } from "../api/types.js";
import type { EnrichJob } from "../run/types.js";
import type { ExportTagsOptions } from "../tags/types.js";
import type { PrepareOptions } from "../webhooks/prepare.js";

/** A length of time: milliseconds, or text such as `250ms`, `30s`, `5m`, `24h`, `7d`. */
export type Duration = number | string;

/** `100/s`, `600/m`, `5000/h`, `10000/d`, several joined by commas, or the same as objects. */
export type RateOption = string | Rate | readonly (string | Rate)[];

/** How a client reaches the service and what it asks. Defaults are those of the program. */
export interface ReputeOptions {
  /** Base address of the threat intelligence interface, up to and including `/beta`. */
  readonly url?: string | undefined;
  /** Sent as `x-api-key` to `url`. Default: none is sent. No environment variable is read. */
  readonly apiKey?: string | undefined;
  /**
   * Answer from the embedded service and its sample dataset, started with the first call and stopped
   * by `close()`. Excludes the addresses. @default false
   */
  readonly local?: boolean | undefined;
  /** With `local`: seed of invented answers for every item that the sample dataset doesn't list. */
  readonly synthetic?: number | undefined;
  /** Base address of the operations interface (customers, cases), without `/beta`. */
  readonly opsUrl?: string | undefined;
  /** Sent as Bearer token to `opsUrl`. */
  readonly accessToken?: string | undefined;
  /** Address of the case management instance (case contexts). */
  readonly caseUrl?: string | undefined;
  /** Sent as Bearer token to `caseUrl`, and to webhooks of that origin. */
  readonly caseApiKey?: string | undefined;
  /**
   * Endpoints asked for each item. `triage` asks the quick check, and the query only if that shows
   * something. @default ["query", "quick-check"]
   */
  readonly lookups?: string | readonly LookupChoice[] | undefined;
  /** IP addresses in reserved ranges: answer them without a request, or ask the service. @default "local"; "ask" with `local` */
  readonly bogons?: "ask" | "local" | undefined;
  /** Files that list what must not be sent, as in `--exclude`. Such items are `unsupported`. */
  readonly exclude?: string | readonly string[] | undefined;
  /** `strip` sends URLs without query and fragment. @default "keep" */
  readonly urlQuery?: "keep" | "strip" | undefined;
  /** Most requests open at once, 1 to 4096; each run of `enrichFile` has as many. @default 32 */
  readonly concurrency?: number | undefined;
  /**
   * Most requests per length of time, for everything that the client does: lookups, runs and calls
   * share this pace. A rate per hour or day is a quota on top of the default, counted across processes in
   * `stateFolder`.
   *
   * @default "100/s"; none with `local`
   */
  readonly rate?: RateOption | undefined;
  /** The same for queries alone, in addition to `rate`. */
  readonly rateQuery?: RateOption | undefined;
  /** The same for quick checks alone, in addition to `rate`. */
  readonly rateQuickCheck?: RateOption | undefined;
  /**
   * A pace shared with other clients, such as `await other.pace()`, which replaces `rate`; or the address
   * of a Redis, `redis://HOST[:PORT]/DB`, in which all programs that name it share `rate` for `url`.
   */
  readonly pace?: RequestPace | string | undefined;
  /** Priority among the clients that share a Redis as `pace`. @default "normal" */
  readonly priority?: Priority | undefined;
  /** Retries of a lookup or call after a transient fault or throttling, 0 to 100. @default 5 */
  readonly retries?: number | undefined;
  /** Re-asks of a partial answer, 0 to 100. @default 2 */
  readonly partialRetries?: number | undefined;
  /** Timeout of one request, connect to last byte: 1ms to 24h. @default "30s" */
  readonly timeout?: Duration | undefined;
  /** How long a run keeps probing a service that only fails; then it rejects, resumable. @default "10m" */
  readonly outagePatience?: Duration | undefined;
  /** Folder that keeps answers for later; several processes may share it. Default: no cache. */
  readonly cache?: string | undefined;
  /** How long a cached answer is fresh; partial answers expire after a 24th of it. @default "24h" */
  readonly cacheTtl?: Duration | undefined;
  /** Folder that counts quotas across processes; null counts them in memory. @default `$XDG_STATE_HOME/repute`, else `~/.local/state/repute` */
  readonly stateFolder?: string | null | undefined;
  /** Time, for tests. Default: the machine's own. */
  readonly clock?: Clock | undefined;
  /** Receives what a person should know: an unusable cache, an outage. Default: dropped. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Options of one lookup or one stream of lookups. */
export interface LookupCall {
  /** Read the text as this kind first, before detection. Default: detected. */
  readonly kind?: ItemKind | undefined;
  /** Aborting it rejects with the signal's reason and cancels open requests. */
  readonly signal?: AbortSignal | undefined;
}

/** How `enrichFile` reads, runs and writes. What is asked, and how fast, is the client's. */
export interface EnrichFileOptions {
  /** Format of the input. Default: by extension, else by its first lines. gzip is detected. */
  readonly from?: SourceFormat | undefined;
  /**
   * Column with the item; NDJSON: a dotted path, `ips[]` for every element of a list. Several give a
   * row each, named in `rep_column`. Default: found by its contents.
   */
  readonly itemColumn?: string | string[] | undefined;
  /** Column that names the item's kind. Default: one of kind names beside the item column. */
  readonly kindColumn?: string | undefined;
  /** False: the first line is data, and columns are named column_1, column_2, … Default: detected. */
  readonly header?: boolean | undefined;
  /** Skip lines that begin with this text. Default: `#` if the input begins with it. */
  readonly comment?: string | undefined;
  /** Encoding of a text input: a label of the WHATWG. Default: UTF-8, or UTF-16 with a byte order mark. */
  readonly encoding?: string | undefined;
  /** Sheet of an Excel workbook. Default: the first. */
  readonly sheet?: string | undefined;
  /** Read folders with their subfolders, except hidden ones and links to folders. @default false */
  readonly recursive?: boolean | undefined;
  /** Format of the output. Default: by extension, else that of the input. */
  readonly to?: SinkFormat | undefined;
  /** NDJSON: one nested member `rep`, or flat columns. @default "nested" */
  readonly shape?: "flat" | "nested" | undefined;
  /** What the names of added columns begin with. @default "rep_" */
  readonly prefix?: string | undefined;
  /** Also write rows without an answer to this file, with the reason, to be run again. */
  readonly rejects?: string | undefined;
  /** Neutralise added CSV cells that a spreadsheet would run as a formula. @default true */
  readonly formulaGuard?: boolean | undefined;
  /** Write rows as their lookups finish instead of in input order. @default false */
  readonly unordered?: boolean | undefined;
  /** Continue an interrupted run of the same output; with nothing to continue, start. @default false */
  readonly resume?: boolean | undefined;
  /** Start over: discard what an interrupted run of the same output left. @default false */
  readonly restart?: boolean | undefined;
  /** Most requests of this call, retries included; then it rejects with `EarlyEndError`, resumable. */
  readonly maxRequests?: number | undefined;
  /** When to reject with `EarlyEndError`, resumable: a local time of day (`05:30`) or `2h` from now. */
  readonly deadline?: string | undefined;
  /**
   * Most failed rows, a number or a share of the rows looked up (from 100 rows on). Beyond it the rows
   * are kept as `OUT.failed` and the manifest's `exit_reason` is `too_many_failed`. @default "50%"
   */
  readonly maxFailed?: number | string | undefined;
  /** Aborting it ends the run cleanly and resumable; `enrichFile` rejects with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called when rows begin to flow, with a cheap function that tells how far the run is. */
  readonly onStart?: EnrichJob["onStart"] | undefined;
  /** Receives choices a person may want to check: the column with the items. Default: dropped. */
  readonly onNotice?: EnrichJob["onNotice"] | undefined;
}

/** Which lists `exportTags` writes, and how. */
export type TagListOptions = Omit<
  ExportTagsOptions,
  "client" | "source" | "withheld" | "clock" | "onWarning" | "runId"
>;

/** How a webhook is called. */
export interface WebhookCall extends PrepareOptions, CallOptions {}
