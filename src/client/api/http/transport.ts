import { AbortGroups, type Abortable, type Leave } from "../../../core/abort.js";
import type { Dispatcher } from "undici";
import { CredentialMask } from "../../../core/redaction.js";
import { parseBase } from "../options.js";
import { proxyOf } from "./proxy.js";
import type { Receiver, Requests, Answer, ResponseHeaders } from "../types.js";
import { decodeBody } from "./send-once.js";
import { describeFault, TransportError, transportErrorOf } from "./transport-error.js";
import { readIp } from "../../../core/item/ip.js";
import { readSha1 } from "../../../core/item/detect.js";
import { lookupEndpoints } from "../../../core/finding.js";
import { itemDiffers } from "../answer-match.js";
import { asObject, readJson } from "../../../core/json-members.js";

const standardHeaders: readonly (readonly [string, string])[] = [
  ["accept", "application/json"],
  // Answers are small: decoding would cost more than compression saves.
  ["accept-encoding", "identity"],
  ["user-agent", "repute"],
];

interface TransportOptions {
  readonly baseUrl: string;
  readonly dispatcher: Dispatcher;
  readonly timeoutMs?: number | undefined;
  /** The header with the credential, if any. Only sent to the base address; hidden in answers. */
  readonly credential?: readonly [header: string, value: string] | undefined;
}

/**
 * Makes requests to one address. Each call is one request: no retries, no redirects; answers of any
 * status are read to their end and returned.
 */
export class Transport implements Requests {
  readonly #prefix: string;
  readonly #dispatcher: Dispatcher;
  readonly #bounds: ExchangeBounds;
  readonly #headers: string[];
  readonly #aborts = new AbortGroups();

  constructor({ baseUrl, dispatcher, timeoutMs = 30_000, credential }: TransportOptions) {
    const { origin, pathname } = parseBase(baseUrl);
    this.#prefix = pathname.replace(/\/+$/, "");
    this.#dispatcher = dispatcher;
    this.#bounds = {
      origin,
      proxy: proxyOf(dispatcher),
      timeoutMs,
      isShifted: shiftedAnswers(),
      mask: credential ? new CredentialMask(credential[1].replace(/^Bearer /, "")) : null,
    };
    this.#headers = [...standardHeaders.flat(), ...(credential ?? [])];
  }

  get(path: string, signal: AbortSignal, receiver: Receiver): void {
    if (signal.aborted) return receiver.failed(signal.reason);
    const exchange = new Exchange(this.#bounds, path, receiver, signal, this.#aborts);
    const request = {
      origin: this.#bounds.origin,
      path: this.#prefix + path,
      method: "GET",
      headers: this.#headers,
    } as const;
    try {
      this.#dispatcher.dispatch(request, exchange);
    } catch (error) {
      // undici's own dispatchers report errors to the exchange; others may throw.
      exchange.broke(error);
    }
  }
}

interface ExchangeBounds {
  readonly origin: string;
  readonly proxy: string | null;
  readonly timeoutMs: number;
  /** Whether an answer belongs to another request. */
  readonly isShifted: ReturnType<typeof shiftedAnswers>;
  readonly mask: CredentialMask | null;
}

/**
 * One request and its answer: an undici handler that collects the body, bounded in size and time. The
 * timeout also ends a body that trickles in forever, which undici's own timeouts (silence between two
 * pieces) don't catch.
 */
class Exchange implements Dispatcher.DispatchHandler, Abortable {
  readonly #bounds: ExchangeBounds;
  readonly #path: string;
  readonly #receiver: Receiver;
  readonly #leave: Leave;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | null = null;
  #settled = false;
  #stopReason: Error | null = null;
  #status: number | null = null;
  #headers: ResponseHeaders = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Size of the whole body in bytes; NaN if unknown. */
  #length = Number.NaN;
  #looks = 0;

  /**
   * @param path path below the base address
   * @param signal aborting it ends the exchange, as a member of `aborts`
   */
  constructor(
    bounds: ExchangeBounds,
    path: string,
    receiver: Receiver,
    signal: AbortSignal,
    aborts: AbortGroups,
  ) {
    this.#bounds = bounds;
    this.#path = path;
    this.#receiver = receiver;
    this.#leave = aborts.join(signal, this);
    this.#timer = setTimeout(() => this.#expire(), Math.min(bounds.timeoutMs, longestTimerMs));
  }

  abort(reason: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#chunks = [];
    this.#receiver.failed(reason);
    this.#stopReason = reason instanceof Error ? reason : new Error("stopped");
    this.#controller?.abort(this.#stopReason);
  }

  #expire(): void {
    const { origin, timeoutMs } = this.#bounds;
    const message = `${origin} did not answer in full within ${timeoutMs / 1000} s`;
    this.abort(new TransportError("timeout", message, { httpStatus: this.#status }));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // It has ended while waiting for a connection.
    if (this.#stopReason) controller.abort(this.#stopReason);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    // Skip interim answers (RFC 9110 section 15.2).
    if (status < 200) return;
    this.#status = status;
    const { mask } = this.#bounds;
    const type = headers["content-type"];
    // No other header is shown.
    const hides = mask !== null && type !== undefined;
    this.#headers = hides ? { ...headers, "content-type": mask.inText(String(type)) } : headers;
    this.#length = Number(headers["content-length"]);
    if (this.#length > maxBodyBytes) this.#refuseLargeBody();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    this.#bytes += chunk.length;
    if (this.#bytes > maxBodyBytes) return this.#refuseLargeBody();
    this.#chunks.push(chunk);
    if (this.#mayBeWhole(chunk)) this.#closeIfShifted(controller);
  }

  onResponseEnd(): void {
    if (this.#settled || this.#status === null) return;
    this.#deliver(this.#received(this.#status));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.broke(error);
  }

  broke(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#receiver.failed(transportErrorOf(error, this.#bounds, this.#status));
  }

  /** A body of unknown length is checked at once, and again with its next piece, if it ends like JSON. */
  #mayBeWhole(chunk: Buffer): boolean {
    if (!Number.isNaN(this.#length)) return this.#bytes === this.#length;
    return chunk.at(-1) === closeBrace && this.#looks++ < mostLooks;
  }

  /**
   * Closes the connection after an answer that belongs to another request. Checked before the answer
   * ends, since the connection can be reused immediately afterwards.
   */
  #closeIfShifted(controller: Dispatcher.DispatchController): void {
    if (this.#status === null) return;
    const answer = this.#received(this.#status);
    // The end of the answer reports a fault.
    if (answer instanceof TransportError || !this.#bounds.isShifted(this.#path, answer)) return;
    this.#stopReason = new Error("the answer belongs to another request");
    this.#deliver(answer);
    controller.abort(this.#stopReason);
  }

  #received(status: number): Answer | TransportError {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks, this.#bytes)];
    const answer = { status, headers: this.#headers, body: this.#chunks[0]! };
    if (this.#headers["content-encoding"] === undefined) return answer;
    const body = decodeBody(answer, maxBodyBytes, this.#bounds.origin);
    return body instanceof TransportError ? body : { ...answer, body };
  }

  #deliver(outcome: Answer | TransportError): void {
    this.#settle();
    if (outcome instanceof TransportError) this.#receiver.failed(outcome);
    else this.#receiver.answered(this.#masked(outcome));
  }

  /** Hides the credential before anyone else sees the answer. */
  #masked(answer: Answer): Answer {
    const { mask } = this.#bounds;
    if (mask === null) return answer;
    const { status, body } = answer;
    const isData = status === 200 || (status === 503 && body.includes('"partial_success"'));
    return { ...answer, body: isData ? mask.inData(body) : mask.inErrorBody(body) };
  }

  #refuseLargeBody(): void {
    const message = describeFault("body_too_large", this.#bounds.origin);
    this.abort(new TransportError("body_too_large", message, { httpStatus: this.#status }));
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#leave();
  }
}

/** Maximum body size in bytes, before and after decoding. */
const maxBodyBytes = 8 * 1024 * 1024;

/** Maximum of `setTimeout` in milliseconds: 25 days. */
const longestTimerMs = 2 ** 31 - 1;

const closeBrace = 0x7d;

/** Bounds the checks of a body all of whose pieces end like JSON. */
const mostLooks = 8;

/**
 * Detects answers to lookups that name another item than the requested one. HTTP/1.1 matches answers to
 * requests by order alone: after one surplus answer on a connection, every later one belongs to the
 * request before. Such a connection has to be closed.
 *
 * Addresses and hashes can be compared reliably. Other kinds may have spellings that only the service
 * knows, so only a share of such mismatches counts: closing a connection for each would cost a TLS
 * handshake per request.
 */
function shiftedAnswers() {
  let lookups = 0;
  let doubtful = 0;
  /** @param path path of the request, below the base address */
  return (path: string, { status, body }: Pick<Answer, "status" | "body">): boolean => {
    if (status !== 200 && status !== 503) return false;
    const [, segment] = lookupPath.exec(path) ?? [];
    if (segment === undefined) return false;
    lookups++;
    const value = segment.includes("%") ? decoded(segment) : segment;
    // Services nearly always echo the item unchanged.
    if (body.includes(`"${value}"`)) return false;
    const { value: envelope } = readJson(body);
    const named = asObject(asObject(envelope)?.["result"])?.["item"];
    if (typeof named !== "string" || !itemDiffers(value, named)) return false;
    if (readIp(value) === value || readSha1(value) === value) return true;
    if (doubtful >= leastDoubtful + doubtfulShare * lookups) return false;
    doubtful++;
    return true;
  };
}

/** A lookup's path below the base address, with the encoded item. */
const lookupPath = new RegExp(`^/(?:${lookupEndpoints.join("|")})/([^/?]+)$`);

/** Bounds on connections closed for mere spellings: a number, and a share of all lookups. */
const leastDoubtful = 8;
const doubtfulShare = 0.01;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
