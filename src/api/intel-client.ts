import { UsageError } from "../core/errors.js";
import type { Attempt } from "../core/attempt.js";
import type { Finding, LookupEndpoint } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import { Caller, type ClientOptions, pathSegment } from "./caller.js";
import { type Bench, judge, judgeFault } from "./judge.js";
import type { Tag, TagIps, TagSummary } from "./schema/tag.js";
import { snapshotLength, tagIpsLimit } from "./schema/vocabulary.js";
import { ServiceError, SnapshotChangedError } from "./status-fault.js";
import { TransportError } from "./http/transport-error.js";
import type { CallOptions } from "./types.js";

export interface IntelClientOptions extends ClientOptions {
  /** Sent as `x-api-key`; nothing is sent without one (interface: Authentication, 1). */
  readonly apiKey?: string | undefined;
  /**
   * Whether findings keep the text of their results (`LookupAnswer.text`) beside the values,
   * for 2 µs each and the memory. @default false
   */
  readonly asReceived?: boolean | undefined;
}

/** Which page of a tag's list (interface: Endpoints, Lookup). */
export interface TagIpsPage extends CallOptions {
  /** Entries to pass over; 0 or more. @default 0 */
  readonly offset?: number | undefined;
  /** Most entries of the page; 1 to 10000. The service has its own default. */
  readonly limit?: number | undefined;
  /** Token of an earlier page, 24 characters: the page comes from the same dataset. */
  readonly snapshot?: string | undefined;
}

/** How one lookup is made. */
export interface LookupCallOptions {
  /** Aborting it rejects the lookup with the signal's reason. */
  readonly signal: AbortSignal;
}

/** The threat intelligence interface. Each lookup is one request; wrap it to retry and to pace. */
export class IntelClient {
  readonly #caller: Caller;
  readonly #bench: Bench;

  /** @throws UsageError when the address or the API key cannot be used */
  constructor(options: IntelClientOptions) {
    this.#caller = new Caller("intel", options, options.apiKey);
    this.#bench = { ...this.#caller.bench, asReceived: options.asReceived };
  }

  /**
   * Asks once for what is known of an item. Whatever the service does becomes a finding; bound to
   * the client, so that it can be passed on as a `Lookup`.
   *
   * @throws FatalError for 401 and 403; the signal's reason when it aborts
   */
  readonly query = (item: Item, options: LookupCallOptions): Promise<Finding> =>
    this.attempt("query", item, options).then(({ finding }) => finding);

  /** Asks once for the reduced verdict on an item; as `query`. */
  readonly quickCheck = (item: Item, options: LookupCallOptions): Promise<Finding> =>
    this.attempt("quick-check", item, options).then(({ finding }) => finding);

  /**
   * All tags. Outside the specification, but known of the deployed service.
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
   * The description of one tag.
   *
   * @param name `<group>:<name>`
   * @throws ServiceError (`RejectedError` for a tag that the service does not know), FatalError
   */
  tag(name: string, options: CallOptions = {}): Promise<Tag> {
    return this.#caller.call("tag", { subject: `tag ${name}`, argument: name }, options);
  }

  /**
   * One page of the IP addresses of a tag.
   *
   * @throws UsageError when the page cannot be; ServiceError, FatalError
   */
  async tagIps(name: string, page: TagIpsPage = {}): Promise<TagIps> {
    const call = { subject: `IP list of tag ${name}`, argument: name, query: pageQuery(page) };
    return this.#caller.call("tag-ips", call, page);
  }

  /**
   * The pages of a tag's whole list. All come from the dataset of the first: its snapshot is pinned.
   *
   * @throws ServiceError `page_repeated` when a page is the one before it again;
   *   SnapshotChangedError when the service changes the dataset all the same;
   *   `RejectedError` when it refuses its own snapshot; UsageError, ServiceError, FatalError
   */
  async *iterateTagIps(
    name: string,
    options: CallOptions & { readonly limit?: number | undefined } = {},
  ): AsyncGenerator<TagIps, void, undefined> {
    const { signal, limit = tagIpsLimit.max } = options;
    const first = await this.tagIps(name, { limit, signal });
    yield first;
    const { snapshot } = first;
    let offset = first.entries.length;
    let page = first;
    while (offset < first.total && page.entries.length > 0) {
      const before = page;
      page = await this.tagIps(name, { offset, limit, snapshot, signal });
      assertSameDataset(name, first, page);
      assertNotRepeated(name, before, page, offset);
      offset += page.entries.length;
      if (page.entries.length > 0) yield page;
    }
  }

  /** Makes one request for an item; as `query`, with what a retry has to know. */
  attempt(endpoint: LookupEndpoint, item: Item, { signal }: LookupCallOptions): Promise<Attempt> {
    const path = `/${endpoint}/${pathSegment(item.value)}`;
    return this.#caller.send(endpoint, path, signal).then(
      (answer) => judge({ endpoint, item }, answer, this.#bench),
      (error: unknown) => {
        if (error instanceof TransportError) return judgeFault(error, this.#bench.clock);
        throw error;
      },
    );
  }
}

/** The query of a page's request; the interface's rules are kept before anything is sent. */
function pageQuery({ offset, limit, snapshot }: TagIpsPage): string {
  const query = new URLSearchParams();
  if (offset !== undefined) {
    if (!Number.isSafeInteger(offset) || offset < 0) {
      throw new UsageError("invalid_offset", "offset must be a whole number of at least 0");
    }
    query.set("offset", String(offset));
  }
  if (limit !== undefined) {
    const { min, max } = tagIpsLimit;
    if (!Number.isSafeInteger(limit) || limit < min || limit > max) {
      throw new UsageError("invalid_limit", `limit must be a whole number from ${min} to ${max}`);
    }
    query.set("limit", String(limit));
  }
  if (snapshot !== undefined) {
    if (snapshot.length !== snapshotLength) {
      const message = `snapshot must have exactly ${snapshotLength} characters`;
      throw new UsageError("invalid_snapshot", message);
    }
    query.set("snapshot", snapshot);
  }
  return query.size === 0 ? "" : `?${query.toString()}`;
}

function assertSameDataset(name: string, first: TagIps, page: TagIps): void {
  for (const member of ["snapshot", "lastUpdate", "total"] as const) {
    if (first[member] === page[member]) continue;
    throw new SnapshotChangedError(
      "snapshot_changed",
      `the list of ${name} changed while it was read: ${member} is no longer that of the first page`,
      { httpStatus: 200 },
    );
  }
}

/** A service that ignores the offset gives its first page for ever. */
function assertNotRepeated(
  name: string,
  before: TagIps,
  { entries }: TagIps,
  offset: number,
): void {
  if (entries.length === 0 || entries.length !== before.entries.length) return;
  if (entries.some((entry, at) => entry !== before.entries[at])) return;
  throw new ServiceError(
    "page_repeated",
    `the page at offset ${offset} of the list of ${name} is that before it again: the service does not page by offset`,
    { httpStatus: 200 },
  );
}
