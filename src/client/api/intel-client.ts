import { UsageError } from "../../core/errors.js";
import type { Attempt, Finding, LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { Caller, type ClientOptions, pathSegment } from "./caller.js";
import { type JudgeContext, failedAttempt, judge } from "./judge.js";
import {
  type Tag,
  type TagIps,
  type TagSummary,
  tagIpsLimit,
  tagIpsQuery,
  wrongParameter,
} from "./calls.js";
import { ServiceError, SnapshotChangedError } from "./status-fault.js";
import type { CallOptions, RequestOptions } from "./types.js";

/** Hint for an unknown tag. */
const namesHint = "repute tags list prints the names of all tags";

export interface IntelClientOptions extends ClientOptions {
  /** Sent as `x-api-key`. Without it, no credential is sent. */
  readonly apiKey?: string | undefined;
  /**
   * Whether findings include the text of their results (`LookupAnswer.text`); costs 2 µs each, and
   * memory. @default false
   */
  readonly asReceived?: boolean | undefined;
}

export interface TagIpsPage extends CallOptions {
  /** Number of entries to skip. @default 0 */
  readonly offset?: number | undefined;
  /** Maximum number of entries, 1 to 10000. The service has its own default. */
  readonly limit?: number | undefined;
  /** Snapshot token of an earlier page (24 characters), to page over the same dataset. */
  readonly snapshot?: string | undefined;
}

interface LookupCallOptions extends RequestOptions {
  readonly signal: AbortSignal;
}

/** Client for the threat intelligence interface. Lookups are single requests, neither retried nor paced. */
export class IntelClient {
  readonly #caller: Caller;
  readonly #context: JudgeContext;

  /** @throws UsageError if the address or the API key is unusable */
  constructor(options: IntelClientOptions) {
    this.#caller = new Caller("intel", options, options.apiKey);
    this.#context = { ...this.#caller.context, asReceived: options.asReceived };
  }

  /**
   * Sends one query for an item. Resolves to a finding, even if the service fails. Bound to the client, so
   * it can be passed as a `Lookup`.
   *
   * @throws FatalError for 401 and 403; the signal's reason if it aborts
   */
  readonly query = (item: Item, options: LookupCallOptions): Promise<Finding> =>
    this.attempt("query", item, options).then(({ finding }) => finding);

  /** Sends one quick check for an item; see `query`. */
  readonly quickCheck = (item: Item, options: LookupCallOptions): Promise<Finding> =>
    this.attempt("quick-check", item, options).then(({ finding }) => finding);

  /**
   * Lists all tags. Not in the specification, but supported by deployed services.
   *
   * @throws ServiceError, FatalError
   */
  tags(
    options: CallOptions & { readonly includeDescriptions?: boolean } = {},
  ): Promise<TagSummary[]> {
    const query = options.includeDescriptions === true ? "?includeDescriptions=true" : "";
    return this.#caller.call("tags", { subject: "tags", query }, options);
  }

  /**
   * Fetches the description of a tag.
   *
   * @param name `<group>:<name>`
   * @throws ServiceError (`RejectedError` for an unknown tag, `other_tag`), FatalError
   */
  async tag(name: string, options: CallOptions = {}): Promise<Tag> {
    const call = { subject: `tag ${name}`, argument: name, hint: namesHint };
    const tag = await this.#caller.call("tag", call, options);
    assertTag(name, tag.name);
    return tag;
  }

  /**
   * Fetches one page of a tag's IP addresses.
   *
   * @throws UsageError for an invalid page; ServiceError (`other_tag`), FatalError
   */
  async tagIps(name: string, page: TagIpsPage = {}): Promise<TagIps> {
    const subject = `IP list of tag ${name}`;
    const call = { subject, argument: name, query: pageQuery(page), hint: namesHint };
    const answer = await this.#caller.call("tag-ips", call, page);
    assertTag(name, answer.tag);
    return answer;
  }

  /**
   * Iterates over the pages of a tag's list. Pins the snapshot of the first page for all others. Ends
   * early at a page without entries.
   *
   * @throws ServiceError `page_repeated` if two consecutive pages are the same;
   *   SnapshotChangedError if the dataset changes despite the pin;
   *   `RejectedError` if the service rejects its own snapshot; UsageError, ServiceError, FatalError
   */
  async *iterateTagIps(
    name: string,
    options: CallOptions & { readonly limit?: number | undefined } = {},
  ): AsyncGenerator<TagIps, void, undefined> {
    const { signal, limit = tagIpsLimit.max } = options;
    let offset = 0;
    let lastEntries: readonly string[] = [];
    for (let pin: TagIps | undefined; pin === undefined || offset < pin.total;) {
      const rest = pin && { offset, snapshot: pin.snapshot };
      const page = await this.tagIps(name, { limit, signal, ...rest });
      pin ??= page;
      assertSameDataset(name, pin, page);
      assertNotRepeated(name, lastEntries, page, offset);
      yield page;
      if (page.entries.length === 0) return;
      offset += page.entries.length;
      lastEntries = page.entries;
    }
  }

  /** Sends one request for an item; like `query`, but also returns what a retry needs to know. */
  attempt(endpoint: LookupEndpoint, item: Item, options: LookupCallOptions): Promise<Attempt> {
    const path = `/${endpoint}/${pathSegment(item.value)}`;
    return this.#caller.send(endpoint, path, options.signal, options).then(
      (answer) => judge({ endpoint, item }, answer, this.#context),
      (error: unknown) => failedAttempt(error, this.#context.clock),
    );
  }
}

/** @throws UsageError if a parameter breaks the interface's rules */
function pageQuery({ offset, limit, snapshot }: TagIpsPage): string {
  const { data, error } = tagIpsQuery.safeParse({ offset, limit, snapshot });
  if (error) {
    const [name, why] = wrongParameter(error);
    throw new UsageError(`invalid_${name}`, `${name} ${why}`);
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(data)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}

/** @throws ServiceError `other_tag` if the service answered for another tag */
function assertTag(name: string, answered: string): void {
  if (answered === name) return;
  throw new ServiceError(
    "other_tag",
    `the service answered for tag ${JSON.stringify(answered)} when asked for ${JSON.stringify(name)}`,
  );
}

function assertSameDataset(name: string, pin: TagIps, page: TagIps): void {
  for (const member of ["snapshot", "lastUpdate", "total"] as const) {
    if (pin[member] === page[member]) continue;
    throw new SnapshotChangedError(
      "snapshot_changed",
      `the list of ${name} changed while it was read: ${member} from ${String(pin[member])} to ${String(page[member])}`,
      { httpStatus: 200 },
    );
  }
}

/** A service that ignores the offset would return its first page forever. */
function assertNotRepeated(
  name: string,
  before: readonly string[],
  { entries, total }: TagIps,
  offset: number,
): void {
  if (entries.length === 0 || entries.length !== before.length) return;
  if (entries.some((entry, at) => entry !== before[at])) return;
  throw new ServiceError(
    "page_repeated",
    `the page at offset ${offset} of the list of ${name} repeats the one before it: the service ignores the offset or reports a wrong total (${total})`,
    { httpStatus: 200 },
  );
}
