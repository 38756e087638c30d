import { saysAuthenticationFailed } from "./options.js";
import { Caller, type ClientOptions } from "./caller.js";
import type { CaseContext } from "./schema/operations.js";
import { refusal } from "./status-fault.js";
import type { CallOptions } from "./types.js";

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
 * Whether a 200 answer says `Authentication Failed`. An object with subscriber data is a context, where
 * the phrase is about the case itself: some cases are about failed logins.
 */
function saysRefused({ s: data, ...others }: CaseContext): boolean {
  if (Object.keys(data?.resolver_data ?? {}).length > 0) return false;
  return saysAuthenticationFailed(JSON.stringify(others));
}
