import { toWellFormed } from "../../core/bytes.js";
import type { Dispatcher } from "undici";
import type { Clock } from "../../core/clock.js";
import { readResult } from "./read-answer.js";
import type { JudgeContext } from "./judge.js";
import {
  credentialHeader,
  describeService,
  saysAuthenticationFailed,
  type ServiceName,
} from "./service-description.js";
import { refusal, ServiceError, serviceError } from "./status-fault.js";
import { Transport } from "./http/transport.js";
import { TransportError } from "./http/transport-error.js";
import type { ThreadStart } from "./thread/entry.js";
import type {
  Answer,
  AttemptReport,
  CallOptions,
  CallPolicy,
  Endpoint,
  RequestOptions,
  Requests,
} from "./types.js";
import type { CallName, CallResult } from "./calls.js";

/** Makes requests elsewhere: on a thread, or on other machines. */
interface RequestMaker {
  /** Prepares one client's requests to a base address. */
  open(transport: Omit<ThreadStart, "connections">): Requests;
}

/** Options common to all clients. */
export interface ClientOptions {
  /** Base address, `http:` or `https:`, with or without a trailing `/`. */
  readonly baseUrl: string;
  /** Connections to use; see `createDispatcher`. The client doesn't close them. */
  readonly dispatcher: Dispatcher | RequestMaker;
  readonly clock: Clock;
  /** Timeout for one request, from start to last byte, in milliseconds. @default 30000 */
  readonly timeoutMs?: number | undefined;
  /** Called at the end of each request. */
  readonly onAttempt?: ((report: AttemptReport) => void) | undefined;
  /** Paces and retries calls other than lookups. @default one attempt, immediately */
  readonly send?: CallPolicy | undefined;
  /** Holder of the credential if that is not this process, for messages: "the workers". */
  readonly keyHolder?: string | undefined;
}

interface Call {
  /** Such as "tag spam:bulk"; starts error messages. */
  readonly subject: string;
  /** Replaces `{…}` in the path. */
  readonly argument?: string;
  /** Encoded, including its `?`; "" for none. */
  readonly query?: string;
  /** What the user can do if the service refuses the call. */
  readonly hint?: string;
}

/** Makes one client's requests, reports each of them and turns answers into values. */
export class Caller {
  readonly context: JudgeContext;
  readonly #requests: Requests;
  readonly #onAttempt: (report: AttemptReport) => void;
  readonly #send: CallPolicy;

  /** @throws UsageError if the address or the credential is unusable */
  constructor(service: ServiceName, options: ClientOptions, credential: string | undefined) {
    const { dispatcher, baseUrl, timeoutMs, clock } = options;
    const isConfigured = credential !== undefined;
    this.context = { service: describeService(service, isConfigured, options.keyHolder), clock };
    const transport = { baseUrl, timeoutMs, credential: credentialHeader(service, credential) };
    this.#requests =
      "open" in dispatcher
        ? dispatcher.open(transport)
        : new Transport({ ...transport, dispatcher });
    this.#onAttempt = options.onAttempt ?? ignore;
    this.#send = options.send ?? onceOnly;
  }

  /**
   * Makes one request and reports it.
   *
   * @throws TransportError, or the signal's reason
   */
  send(
    endpoint: Endpoint,
    path: string,
    signal: AbortSignal,
    options?: RequestOptions,
  ): Promise<Answer> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const { clock } = this.context;
    const start = clock.monotonic();
    return new Promise<Answer>((answered, failed) => {
      this.#requests.get(path, signal, { answered, failed }, options);
    }).then(
      (answer) => {
        const { status, headers } = answer;
        const ms = clock.monotonic() - start;
        this.#onAttempt({ endpoint, ms, httpStatus: status, outcome: String(status), headers });
        return answer;
      },
      (error: unknown) => {
        const isFault = error instanceof TransportError;
        const [httpStatus, outcome] = isFault ? [error.httpStatus, error.code] : [null, "aborted"];
        const ms = clock.monotonic() - start;
        this.#onAttempt({ endpoint, ms, httpStatus, outcome, headers: null });
        throw error;
      },
    );
  }

  /**
   * Makes a call other than a lookup, under the client's policy.
   *
   * @throws ServiceError, or the signal's reason; FatalError if the credential is refused, which services
   *   other than the intelligence interface may say in the body of any answer
   */
  async call<Name extends CallName>(
    name: Name,
    call: Call,
    { signal = new AbortController().signal }: CallOptions,
  ): Promise<CallResult<Name>> {
    const { calls } = await import("./calls.js");
    const { argument = "", query = "" } = call;
    const spec = calls[name];
    const target = spec.path.replace(/\{\w+\}/, () => pathSegment(argument)) + query;
    const attempt = async (): Promise<CallResult<Name>> => {
      let answer: Answer | null = null;
      try {
        answer = await this.send(name, target, signal);
        return readResult(spec, answer, this.context) as CallResult<Name>;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        const isRefusal = spec.service !== "intel" && saysAuthenticationFailed(answer?.body ?? "");
        throw isRefusal
          ? refusal(answer!.status, this.context.service)
          : this.#errorOf(call, error);
      }
    };
    return this.#send(attempt, { signal });
  }

  #errorOf({ subject, hint }: Call, error: ServiceError): ServiceError {
    const { code, message, httpStatus, again } = error;
    const isRejected = code === "rejected";
    const what = isRejected ? `${this.context.service.name} refuses: ${message}` : message;
    const options = { cause: error, httpStatus, again, ...(isRejected && hint && { hint }) };
    return serviceError(code, `${subject}: ${what}`, options);
  }
}

/**
 * Escapes a path segment: all characters that could end it (RFC 3986 section 3.3), and `.` and `..`,
 * which would be resolved. A lone surrogate, which UTF-8 cannot encode, becomes U+FFFD.
 */
export function pathSegment(text: string): string {
  if (plain.test(text)) return text;
  if (text === "." || text === "..") return text.replaceAll(".", "%2E");
  try {
    return encodeURIComponent(text);
  } catch {
    return encodeURIComponent(toWellFormed(text));
  }
}

/** Text that needs no escaping, such as IPv4 addresses, hashes and most domains. */
const plain = /^\w[\w.-]{0,255}$/;

const onceOnly: CallPolicy = (attempt) => attempt();

function ignore(): void {}
