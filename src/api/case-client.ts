import { saysAuthenticationFailed } from "./options.js";
import { Caller, type ClientOptions } from "./caller.js";
import type { CaseContext } from "./schema/operations.js";
import { refusal } from "./status-fault.js";
import type { CallOptions } from "./types.js";

export interface CaseClientOptions extends ClientOptions {
  /** Sent as `Authorization: Bearer` (interface: Authentication, 3). */
  readonly apiKey?: string | undefined;
}

/** A customer's case management instance. */
export class CaseClient {
  readonly #caller: Caller;

  /** @throws UsageError when the address or the API key cannot be used */
  constructor(options: CaseClientOptions) {
    this.#caller = new Caller("case", options, options.apiKey);
  }

  /**
   * The context of a case: what payload expressions read (`s.resolver_data`).
   *
   * @throws NotFoundError when there is no such case; ServiceError, FatalError
   */
  async context(caseId: string, options: CallOptions = {}): Promise<CaseContext> {
    const call = { subject: `context of case ${caseId}`, argument: caseId };
    const context = await this.#caller.call("case-context", call, options);
    if (saysRefused(context)) throw refusal(200, this.#caller.bench.service);
    return context;
  }
}

/**
 * Whether an object that came with status 200 says `Authentication Failed`. Where it has subscriber
 * data it is a context, and the phrase is about the case: failed logins are what some cases are of.
 */
function saysRefused({ s: data, ...others }: CaseContext): boolean {
  if (Object.keys(data?.resolver_data ?? {}).length > 0) return false;
  return saysAuthenticationFailed(JSON.stringify(others));
}
