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
import type { ExportReport } from "../jobs/tags/options.js";
import type { Webhook } from "../jobs/webhooks/webhook.js";
import type { WebhookDelivery } from "../jobs/webhooks/send.js";
import { Services } from "./services.js";
import { lookUp, type LookupResult } from "./result.js";
import { inOptions } from "./wording.js";
import {
  type EnrichFileOptions,
  type LookupCall,
  type ReputeOptions,
  type TagListOptions,
  checkedOptions,
  clientSettings,
  schemas,
} from "./options.js";
import type { OpenedLookup } from "../client/session/types.js";
import type { FolderSettings } from "../io/input/list-inputs.js";
import type { RunInput } from "../io/input/types.js";
import { inGroups, runOptions } from "../jobs/enrich/options.js";
import type { inputNamed } from "../jobs/enrich/choose-inputs.js";
import type { ReadingSettings } from "../jobs/enrich/types.js";

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
  readonly #running = new Set<Promise<unknown>>();
  /** Aborts what is in progress. Replaced after a used-up quota, so that later calls can work. */
  #stop = new AbortController();
  #lookup: Promise<OpenedLookup> | null = null;
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
    return this.#run({ signal }, async ({ signal: stop }) => {
      this.#lookup ??= this.#services.lookup(0);
      this.#lookup.catch(() => (this.#lookup = null));
      const { lookup } = await this.#lookup;
      return lookUp(lookup, input, { kind, ...this.#services.lookupCall(stop) });
    });
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
    const call = { kind, ...this.#services.lookupCall(this.#signal(signal, own.signal)) };
    // Not awaited here: a readline interface loses lines that come before its iteration begins.
    const opening = this.#services.lookup(10_000);
    opening.catch(() => undefined);
    const work = async (input: string): Promise<LookupResult> => {
      try {
        return await lookUp((await opening).lookup, input, call);
      } catch (error) {
        own.abort(error);
        throw error;
      }
    };
    try {
      const most = openRequests(this.#services.settings) * 2;
      yield* this.#each(async () => inOrder(inputs, work, most));
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
    return this.#run(options, (call) => enrichFile(this.#services, input, output, call));
  }

  /** All tags. @throws ServiceError, FatalError, as all calls below */
  async tags(
    options: CallOptions & { readonly includeDescriptions?: boolean } = {},
  ): Promise<TagSummary[]> {
    return this.#run(options, async (call) => (await this.#services.intel()).tags(call));
  }

  /** One tag's description. @param name `<group>:<name>` @throws RejectedError for an unknown tag */
  async tag(name: string, options: CallOptions = {}): Promise<Tag> {
    return this.#run(options, async (call) => (await this.#services.intel()).tag(name, call));
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
    const call = { ...options, signal: this.#signal(options.signal) };
    yield* this.#each(async () => (await this.#services.intel()).iterateTagIps(name, call));
  }

  /**
   * Writes tags' IP addresses to files in a folder, as `repute tags export` does: all lists appear at
   * once. A tag that fails is a result with an error, and its earlier list stays.
   *
   * @throws UsageError if the folder holds something else or is in use, FatalError
   */
  async exportTags(options: TagListOptions): Promise<ExportReport> {
    const checked = checkedOptions("exportTags()", schemas.tagList, options);
    return this.#run(checked, async (call) => {
      const { exportTags } = await import("../jobs/tags/export-tags.js");
      return exportTags({ ...call, ...(await this.#services.tagExport()) });
    });
  }

  /** All customers; pages are read as they are needed. Needs `opsUrl`. */
  async *customers(options: CallOptions = {}): AsyncGenerator<Customer, void, undefined> {
    const call = { ...options, signal: this.#signal(options.signal) };
    yield* this.#each(async () => (await this.#services.ops()).customers(call));
  }

  /** One reputation-share case. Needs `opsUrl`. @throws NotFoundError */
  async repShareCase(id: string, options: CallOptions = {}): Promise<RepShareCase> {
    return this.#run(options, async (call) => (await this.#services.ops()).repShareCase(id, call));
  }

  /** The context of a case, for webhook payloads. Needs `caseUrl`. @throws NotFoundError */
  async caseContext(id: string, options: CallOptions = {}): Promise<CaseContext> {
    return this.#run(options, async (call) => (await this.#services.cases()).context(id, call));
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
    return this.#run(options, async (call) => {
      const { asWebhook } = await import("../jobs/webhooks/webhook.js");
      const checked = asWebhook(webhook, "sendWebhook()");
      const context = typeof about === "string" ? await this.caseContext(about, options) : about;
      const { sendWebhook } = await import("../jobs/webhooks/send.js");
      const { readExclusions } = await import("../core/exclusions/read-exclusions.js");
      const { clock, settings, caseKey: apiKey } = this.#services;
      const exclusions = await readExclusions(settings.exclude ?? []);
      const sent = { ...settings, ...call, apiKey, exclusions, clock };
      const { error, ...delivery } = await sendWebhook(checked, context, sent);
      return { ...delivery, error: error && { ...error, message: inOptions(error.message) } };
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

  /** Runs one operation, for which `close()` waits. Its error is in the words of the library. */
  async #run<Options extends CallOptions, T>(
    options: Options,
    work: (call: Options & { readonly signal: AbortSignal }) => Promise<T>,
  ): Promise<T> {
    const running = work({ ...options, signal: this.#signal(options.signal) });
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw errorInOptions(error);
    } finally {
      this.#running.delete(running);
    }
  }

  /** A stream whose error is in the words of the library. */
  async *#each<T>(open: () => Promise<AsyncIterable<T>>): AsyncGenerator<T, void, undefined> {
    try {
      yield* await open();
    } catch (error) {
      throw errorInOptions(error);
    }
  }
}

/** Enriches a file with the client's settings, pace and cache. */
async function enrichFile(
  services: Services,
  input: string | readonly string[] | Readable,
  output: string | Writable,
  options: EnrichFileOptions,
): Promise<Manifest> {
  const {
    signal = new AbortController().signal,
    onStart,
    onNotice,
    ...file
  } = checkedOptions("enrichFile()", schemas.file, options);
  checkedOptions("enrichFile()", schemas.ends, { input, output });
  const [session, { enrich }] = await Promise.all([
    services.session("intel"),
    import("../jobs/enrich/execute.js"),
  ]);
  const toFile = typeof output === "string";
  const told = {
    onNotice: (message: string) => onNotice?.(inOptions(message)),
    onWarning: services.onWarning,
  };
  return enrich({
    settings: inGroups({
      ...file,
      ...services.settings,
      intelUrl: services.settings.url,
      output: toFile ? output : "-",
      failOn: runOptions.shape.failOn.parse(undefined),
    }),
    input: await runInput(input, { ...file, output: toFile ? output : undefined }, told),
    stdout: toFile ? process.stdout : output,
    session,
    command: ["enrichFile"],
    signal,
    clock: services.clock,
    ...(onStart && { onStart }),
    ...told,
  });
}

async function runInput(
  input: string | readonly string[] | Readable,
  settings: ReadingSettings & FolderSettings,
  told: Parameters<typeof inputNamed>[3],
): Promise<RunInput> {
  if (typeof input === "object" && "pipe" in input) return { stream: input, name: "the stream" };
  const names = [input].flat();
  const { inputNamed } = await import("../jobs/enrich/choose-inputs.js");
  const stdin = () => ({ stream: process.stdin, name: "stdin" });
  return inputNamed(names, stdin, settings, told);
}

/** Puts an error into the words of the library. It stays the same object. */
function errorInOptions(error: unknown): unknown {
  if (!(error instanceof ReputeError)) return error;
  const message = inOptions(error.message);
  // The program's command with other flags: here, these are options of the call.
  const ownHint = error.hint?.replace(`${error.command} `, "") ?? null;
  const hint = ownHint && inOptions(ownHint);
  const stack = error.stack?.replace(error.message, () => message);
  return Object.assign(error, { message, hint, stack });
}

/** @throws UsageError `invalid_setting` if the items are not iterable */
function checkItems(inputs: unknown): void {
  const isObject = typeof inputs === "object" && inputs !== null;
  if (isObject && (Symbol.asyncIterator in inputs || Symbol.iterator in inputs)) return;
  throw new UsageError("invalid_setting", "lookupAll(): the items must be a list or a stream", {
    hint: "for a single item, call lookup()",
  });
}
