import type { Dispatcher } from "undici";
import type { Clock } from "../core/clock.js";
import { type CallName, type CallResult, calls } from "./calls.js";
import { readBare, readResult } from "./read-answer.js";
import type { Bench } from "./judge.js";
import { credentialHeader, describeService, type ServiceName } from "./service-description.js";
import { serviceError } from "./status-fault.js";
import { Transport } from "./http/transport.js";
import { TransportError } from "./http/transport-error.js";
import type { RequestThread } from "./thread/request-thread.js";
import type {
  Answer,
  AttemptReport,
  CallOptions,
  CallPolicy,
  Endpoint,
  Requests,
} from "./types.js";

/** What every client is given. */
export interface ClientOptions {
  /** Base address, `http:` or `https:`, with or without a closing `/`. */
  readonly baseUrl: string;
  /** Where connections come from; see `createDispatcher`. The client does not close it. */
  readonly dispatcher: Dispatcher | RequestThread;
  readonly clock: Clock;
  /** Longest time of one request, from its start to the last byte. Milliseconds. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Largest body that is read. Bytes. @default 8 MiB */
  readonly maxBodyBytes?: number | undefined;
  /** Called once for each request made, when it is over. */
  readonly onAttempt?: ((report: AttemptReport) => void) | undefined;
  /** Paces calls that are no lookups and tries them again. @default one attempt, at once */
  readonly send?: CallPolicy | undefined;
}

/** What is asked for by a call that is no lookup. */
interface Call {
  /** As in "tag spam:bulk"; errors begin with it. */
  readonly subject: string;
  /** Takes the place of `{…}` in the path. */
  readonly argument?: string;
  /** Encoded, with its `?`; "" for none. */
  readonly query?: string;
}

/** The requests of one client: makes them, reports each, and turns what came into a value. */
export class Caller {
  readonly bench: Bench;
  readonly #requests: Requests;
  readonly #onAttempt: (report: AttemptReport) => void;
  readonly #send: CallPolicy;

  /** @throws UsageError when the address or the credential cannot be used */
  constructor(service: ServiceName, options: ClientOptions, credential: string | undefined) {
    const { dispatcher, baseUrl, timeoutMs, maxBodyBytes, clock } = options;
    this.bench = { service: describeService(service, credential !== undefined), clock };
    const headers = credentialHeader(service, credential);
    const transport = { baseUrl, timeoutMs, maxBodyBytes, headers };
    this.#requests =
      "open" in dispatcher
        ? dispatcher.open(transport)
        : new Transport({ ...transport, dispatcher });
    this.#onAttempt = options.onAttempt ?? ignore;
    this.#send = options.send ?? onceOnly;
  }

  /** Makes one request and reports it. @throws TransportError, or the signal's reason */
  send(endpoint: Endpoint, path: string, signal: AbortSignal): Promise<Answer> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const { clock } = this.bench;
    const start = clock.monotonic();
    const report = (outcome: Pick<AttemptReport, "httpStatus" | "outcome" | "headers">): void =>
      this.#onAttempt({ endpoint, ms: clock.monotonic() - start, ...outcome });
    return new Promise<Answer>((answered, failed) => {
      this.#requests.get(path, signal, { answered, failed });
    }).then(
      (answer) => {
        const { status, headers } = answer;
        report({ httpStatus: status, outcome: String(status), headers });
        return answer;
      },
      (error: unknown) => {
        const isFault = error instanceof TransportError;
        const [httpStatus, outcome] = isFault ? [error.httpStatus, error.code] : [null, "aborted"];
        report({ httpStatus, outcome, headers: null });
        throw error;
      },
    );
  }

  /**
   * Makes a call that is no lookup, under the policy that the client was given.
   *
   * @throws ServiceError, FatalError, or the signal's reason
   */
  call<Name extends CallName>(
    name: Name,
    { subject, argument = "", query = "" }: Call,
    options: CallOptions,
  ): Promise<CallResult<Name>> {
    const { service, path, schema } = calls[name];
    const signal = options.signal ?? new AbortController().signal;
    const target = path.replace(/\{\w+\}/, () => pathSegment(argument)) + query;
    const read = service === "intel" ? readResult : readBare;
    const inquiry = { ...this.bench, subject };
    return this.#send(
      async () => {
        const answer = await this.#answer(name, target, subject, signal);
        return read(schema, answer, inquiry) as CallResult<Name>;
      },
      { signal },
    );
  }

  async #answer(
    endpoint: Endpoint,
    path: string,
    subject: string,
    signal: AbortSignal,
  ): Promise<Answer> {
    try {
      return await this.send(endpoint, path, signal);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      const { code, message, httpStatus, passing } = error;
      const again = passing ? ({ policy: "transient", afterMs: null } as const) : null;
      throw serviceError(code, `${subject}: ${message}`, { cause: error, httpStatus, again });
    }
  }
}

/**
 * One path segment with every character escaped that could end it (RFC 3986 section 3.3); `.` and
 * `..` too, which would be read as steps. Half a surrogate pair, which no UTF-8 has, becomes U+FFFD.
 */
export function pathSegment(text: string): string {
  if (plain.test(text)) return text;
  if (text === "." || text === "..") return text.replaceAll(".", "%2E");
  try {
    return encodeURIComponent(text);
  } catch {
    return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\u{FFFD}"));
  }
}

/** Nothing that is to be escaped, as in IPv4 addresses, hashes and most domains. */
const plain = /^\w[\w.-]{0,255}$/;

const onceOnly: CallPolicy = (attempt) => attempt();

function ignore(): void {}
