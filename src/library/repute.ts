import type { Readable, Writable } from "node:stream";
import type {
  CaseContext,
  Customer,
  RepShareCase,
  Tag,
  TagIps,
  TagSummary,
} from "../client/api/calls.js";
import type { CallOptions } from "../client/api/types.js";
import { ReputeError, UsageError } from "../core/errors.js";
import { openRequests } from "../client/lookup/options.js";
import { inOrder } from "../client/lookup/in-order.js";
import type { Manifest } from "../core/manifest.js";
import type { Webhook } from "../jobs/webhooks/webhook.js";
import type { WebhookDelivery } from "../jobs/webhooks/send.js";
import { Services } from "./services.js";
import { lookUp, type LookupResult } from "./result.js";
import {
  type EnrichFileOptions,
  type LookupCall,
  type ReputeOptions,
  checkedOptions,
  clientSettings,
  schemas,
} from "./options.js";
import { inGroups, runOptions } from "../jobs/enrich/options.js";

/**
 * A client of the service. Nothing is opened before the first call; `close()` closes everything.
 *
 * ```ts
 * const r = repute({ url: "https://intel.example/beta", apiKey: process.env.REPUTE_API_KEY });
 * const { status, verdict } = await r.lookup("1.2.3[.]4");
 * await r.close();
 * ```
 *
 * @throws UsageError `invalid_setting`, naming each wrong option; `intel_url_missing` if neither
 *   `url` nor `local` is given
 */
export function repute(options: ReputeOptions): Repute {
  return new Repute(options);
}

/**
 * What `repute()` returns. Every method may reject with a `FatalError` (credentials refused, or nothing
 * but 404 at the address), an `EarlyEndError` (a quota is used up), a `ReputeError` `client_closed`,
 * or the reason of an aborted signal.
 */
export class Repute implements AsyncDisposable {
  readonly #services: Services;
  /** Runs over files, which `close()` waits for. */
  readonly #running = new Set<Promise<unknown>>();
  /** Aborts what is in progress. Replaced after a used-up quota, so that later calls can work. */
  #stop = new AbortController();
  #closed: Promise<void> | null = null;

  constructor(options: ReputeOptions) {
    this.#services = new Services(clientSettings(options), (error) => {
      this.#stop.abort(error);
      this.#stop = new AbortController();
    });
  }

  /**
   * Looks up one item, defanged or not. Every answer of the service is a result with a status; see
   * `LookupResult`. Simultaneous lookups of one item share a request; later ones ask again, unless
   * there is a `cache`.
   */
  async lookup(input: string, options: LookupCall = {}): Promise<LookupResult> {
    const { kind, signal } = checkedOptions("lookup()", schemas.lookup, options);
    const stop = this.#signal(signal);
    const { lookup } = await this.#services.lookup();
    return lookUp(lookup, input, kind, stop);
  }

  /**
   * Looks items up, `concurrency` at once, and yields one result per item in input order. Reads the
   * items as fast as results are taken, so memory stays bounded. An item that repeats within the
   * latest 10,000 answers isn't asked for again (`source` is `duplicate`).
   */
  async *lookupAll(
    inputs: Iterable<string> | AsyncIterable<string>,
    options: LookupCall = {},
  ): AsyncGenerator<LookupResult, void, undefined> {
    const { kind, signal } = checkedOptions("lookupAll()", schemas.lookup, options);
    checkItems(inputs);
    const own = new AbortController();
    const stop = this.#signal(signal, own.signal);
    // Not awaited here: a readline interface loses lines that come before its iteration begins.
    const opening = this.#services.openLookup(10_000);
    opening.catch(() => undefined);
    const work = async (input: string): Promise<LookupResult> => {
      try {
        return await lookUp((await opening).lookup, input, kind, stop);
      } catch (error) {
        own.abort(error);
        throw error;
      }
    };
    try {
      yield* inOrder(inputs, work, openRequests(this.#services.settings) * 2);
    } finally {
      // Ends lookups whose results are no longer read.
      own.abort();
      opening.then((opened) => opened.close()).catch(() => undefined);
    }
  }

  /**
   * Enriches a file, stream or table: one row in, one row out, in input order, as `repute enrich`
   * does. OUT appears by rename once it is complete, with `OUT.manifest.json` beside it; an interrupted
   * run can be continued with `resume: true`.
   *
   * @param input a file or folder, a list of them to read in order as one input, or a stream
   * @param output path, `duckdb:FILE?table=NAME`, `postgres://…?table=NAME`, or a stream (not resumable);
   *   in a file name, `{date}` is the UTC day on which the run starts, `{run_id}` its identifier
   * @returns the manifest: counts of rows, statuses, verdicts and requests. Failed rows don't reject;
   *   check `statuses.failed`, and `exit_reason` for `too_many_failed`, `nothing_to_look_up` and `too_few_rows`
   * @throws UsageError if the run cannot begin, FatalError if it cannot continue, EarlyEndError
   */
  async enrichFile(
    input: string | readonly string[] | Readable,
    output: string | Writable,
    options: EnrichFileOptions = {},
  ): Promise<Manifest> {
    const signal = this.#signal(options.signal);
    const run = enrichFile(this.#services, input, output, options, signal);
    this.#running.add(run);
    return run.finally(() => this.#running.delete(run));
  }

  /** All tags. @throws ServiceError, FatalError, as all calls below */
  async tags(
    options: CallOptions & { readonly includeDescriptions?: boolean } = {},
  ): Promise<TagSummary[]> {
    return (await this.#services.intel()).tags(this.#call(options));
  }

  /** One tag's description. @param name `<group>:<name>` @throws RejectedError for an unknown tag */
  async tag(name: string, options: CallOptions = {}): Promise<Tag> {
    return (await this.#services.intel()).tag(name, this.#call(options));
  }

  /**
   * The IP addresses of a tag, page by page, all from the snapshot of the first page.
   *
   * @param options `limit`: entries per page, 1 to 10000, default 10000
   * @throws SnapshotChangedError if the service changes the list meanwhile: read it again
   */
  async *tagIps(
    name: string,
    options: CallOptions & { readonly limit?: number } = {},
  ): AsyncGenerator<TagIps, void, undefined> {
    yield* (await this.#services.intel()).iterateTagIps(name, this.#call(options));
  }

  /** All customers; pages are read as they are needed. Needs `opsUrl`. */
  async *customers(options: CallOptions = {}): AsyncGenerator<Customer, void, undefined> {
    yield* (await this.#services.ops()).customers(this.#call(options));
  }

  /** One reputation-share case. Needs `opsUrl`. @throws NotFoundError */
  async repShareCase(id: string, options: CallOptions = {}): Promise<RepShareCase> {
    return (await this.#services.ops()).repShareCase(id, this.#call(options));
  }

  /** The context of a case, for webhook payloads. Needs `caseUrl`. @throws NotFoundError */
  async caseContext(id: string, options: CallOptions = {}): Promise<CaseContext> {
    return (await this.#services.cases()).context(id, this.#call(options));
  }

  /**
   * Renders a webhook for a case and calls its endpoint. A refusal is a result, not an error. Sends
   * `caseApiKey` if the endpoint is at `caseUrl`.
   *
   * @param about a context, or the id of a case to read the context of
   * @throws UsageError for a wrong member, WebhookError if the payload or the address is invalid;
   * nothing was sent
   */
  async sendWebhook(
    webhook: Webhook,
    about: string | CaseContext,
    options: CallOptions = {},
  ): Promise<WebhookDelivery> {
    const call = this.#call(options);
    const { asWebhook } = await import("../jobs/webhooks/webhook.js");
    const checked = asWebhook(webhook, "sendWebhook()");
    const context = typeof about === "string" ? await this.caseContext(about, options) : about;
    const { sendWebhook } = await import("../jobs/webhooks/send.js");
    const { readExclusions } = await import("../core/exclusions/read-exclusions.js");
    const { clock, settings, caseKey: apiKey } = this.#services;
    return sendWebhook(checked, context, {
      ...settings,
      ...call,
      apiKey,
      exclusions: await readExclusions(settings.exclude ?? []),
      clock,
    });
  }

  /** Stops what is in progress: lookups reject, runs stay resumable. Then closes everything. Later calls reject. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#stop.abort(new ReputeError("client_closed", "the client is closed"));
    await Promise.allSettled(this.#running);
    await this.#services.close();
  }

  /** The signal of one operation. @throws ReputeError `client_closed` */
  #signal(...others: readonly (AbortSignal | undefined)[]): AbortSignal {
    if (this.#closed !== null) throw this.#stop.signal.reason;
    const given = others.filter((signal) => signal !== undefined);
    return given.length === 0 ? this.#stop.signal : AbortSignal.any([this.#stop.signal, ...given]);
  }

  #call<Options extends CallOptions>(options: Options): Options & { readonly signal: AbortSignal } {
    return { ...options, signal: this.#signal(options.signal) };
  }
}

/** Enriches a file with the client's settings, pace and cache. */
async function enrichFile(
  { session, settings, clock, onWarning }: Services,
  input: string | readonly string[] | Readable,
  output: string | Writable,
  options: EnrichFileOptions,
  signal: AbortSignal,
): Promise<Manifest> {
  const checked = checkedOptions("enrichFile()", schemas.file, options);
  const { signal: _given, onNotice = () => undefined, ...own } = checked;
  checkedOptions("enrichFile()", schemas.ends, { input, output });
  const [intel, { enrich }, { inputNamed }] = await Promise.all([
    session("intel"),
    import("../jobs/enrich/execute.js"),
    import("../jobs/enrich/choose-inputs.js"),
  ]);
  const file = { ...own, output: typeof output === "string" ? output : undefined };
  const isStream = typeof input === "object" && "pipe" in input;
  const stdin = () => ({ stream: process.stdin, name: "stdin" });
  const told = { onNotice, onWarning };
  return enrich({
    settings: inGroups({
      ...file,
      ...settings,
      intelUrl: settings.url,
      output: file.output ?? "-",
      failOn: runOptions.shape.failOn.parse(undefined),
    }),
    input: isStream
      ? { stream: input, name: "the stream" }
      : await inputNamed([input].flat(), stdin, file, told),
    stdout: typeof output === "string" ? process.stdout : output,
    session: intel,
    command: ["enrichFile"],
    signal,
    clock,
    ...told,
  });
}

/** @throws UsageError `invalid_setting` if the items are not iterable */
function checkItems(inputs: unknown): void {
  const isObject = typeof inputs === "object" && inputs !== null;
  if (isObject && (Symbol.asyncIterator in inputs || Symbol.iterator in inputs)) return;
  throw new UsageError("invalid_setting", "lookupAll(): the items must be a list or a stream", {
    hint: "for a single item, call lookup()",
  });
}
