import { Caller, type ClientOptions } from "./caller.js";
import type { Customer, RepShareCase, CaseContext } from "./calls.js";
import { saysAuthenticationFailed } from "./service-description.js";
import { ServiceError, refusal } from "./status-fault.js";
import type { CallOptions } from "./types.js";

export interface OpsClientOptions extends ClientOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly accessToken?: string | undefined;
}

/** Client for the operations interface: customers and reputation-share cases. */
export class OpsClient {
  readonly #caller: Caller;

  /** @throws UsageError if the address or the access token is unusable */
  constructor(options: OpsClientOptions) {
    this.#caller = new Caller("ops", options, options.accessToken);
  }

  /**
   * Iterates over all customers, fetching pages as needed. The specification doesn't name the parameter
   * for the next page; `cursor` is used. Ends at a page without `next_cursor`, or with an empty one.
   *
   * @throws ServiceError `cursor_repeated` if a cursor repeats, after yielding all customers so far;
   *   there may be more; FatalError
   */
  async *customers(options: CallOptions = {}): AsyncGenerator<Customer, void, undefined> {
    const seen = new Set<string>();
    let cursor: string | null = null;
    for (;;) {
      const query: string = cursor === null ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const page = await this.#caller.call("customers", { subject: "customers", query }, options);
      yield* page.items;
      cursor = page.next_cursor ?? null;
      if (cursor === null || cursor === "") return;
      if (seen.has(cursor)) {
        throw new ServiceError("cursor_repeated", repeated, { httpStatus: 200 });
      }
      seen.add(cursor);
    }
  }

  /**
   * Fetches a reputation-share case.
   *
   * @throws NotFoundError if there is no case with this ID; ServiceError, FatalError
   */
  repShareCase(id: string, options: CallOptions = {}): Promise<RepShareCase> {
    return this.#caller.call("rep-share-case", { subject: `case ${id}`, argument: id }, options);
  }
}

const repeated =
  "customers: the operations interface repeated a cursor, so the list may be incomplete";

export interface CaseClientOptions extends ClientOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string | undefined;
}

/** Client for a customer's case management instance. */
export class CaseClient {
  readonly #caller: Caller;

  /** @throws UsageError if the address or the API key is unusable */
  constructor(options: CaseClientOptions) {
    this.#caller = new Caller("case", options, options.apiKey);
  }

  /**
   * Fetches a case's context, which payload expressions read (`s.resolver_data`).
   *
   * @throws NotFoundError if there is no such case; ServiceError, FatalError
   */
  async context(caseId: string, options: CallOptions = {}): Promise<CaseContext> {
    const call = { subject: `context of case ${caseId}`, argument: caseId };
    const context = await this.#caller.call("case-context", call, options);
    if (saysRefused(context)) throw refusal(200, this.#caller.context.service);
    return context;
  }
}

/**
 * Whether a 200 answer is a refusal that says `Authentication Failed`. With subscriber data it is a
 * context, and the phrase is about the case: some cases are about failed logins.
 */
function saysRefused({ s: data, ...others }: CaseContext): boolean {
  if (Object.keys(data?.resolver_data ?? {}).length > 0) return false;
  return saysAuthenticationFailed(JSON.stringify(others));
}
