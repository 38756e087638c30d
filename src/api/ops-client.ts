import { Caller, type ClientOptions } from "./caller.js";
import type { Customer, RepShareCase } from "./schema/operations.js";
import { ServiceError } from "./status-fault.js";
import type { CallOptions } from "./types.js";

export interface OpsClientOptions extends ClientOptions {
  /** Sent as `Authorization: Bearer` (interface: Authentication, 2). */
  readonly accessToken?: string | undefined;
}

/** The operations interface: customers and reputation-share cases. */
export class OpsClient {
  readonly #caller: Caller;

  /** @throws UsageError when the address or the access token cannot be used */
  constructor(options: OpsClientOptions) {
    this.#caller = new Caller("ops", options, options.accessToken);
  }

  /**
   * All customers, page by page as they are needed. The interface does not show how the next page
   * is asked for; the parameter is `cursor`. Ends at a page without `next_cursor`, or with an empty
   * one.
   *
   * @throws ServiceError, `cursor_repeated` when a cursor comes again: all customers of the pages
   *   before were given then, but there may be more; FatalError
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
      if (seen.has(cursor)) throw repeatedCursor();
      seen.add(cursor);
    }
  }

  /**
   * One reputation-share case.
   *
   * @throws NotFoundError when there is none of this id; ServiceError, FatalError
   */
  repShareCase(id: string, options: CallOptions = {}): Promise<RepShareCase> {
    return this.#caller.call("case", { subject: `case ${id}`, argument: id }, options);
  }
}

function repeatedCursor(): ServiceError {
  return new ServiceError(
    "cursor_repeated",
    "customers: the operations interface gave the cursor of an earlier page again, so its list is not known to be complete",
    { httpStatus: 200 },
  );
}
