import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isIP, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { isLoopback, proxyFor } from "../../api/http/proxy.js";
import type { AttemptReport } from "../../api/types.js";
import { serviceCodes } from "../../core/error-codes/service-codes.js";
import { EarlyEndError, ReputeError } from "../../core/errors.js";
import type { FindingError } from "../../core/finding.js";
import { userStateFolder } from "../../core/files/user-folders.js";
import { counted, formatCount } from "../../core/text/quantity.js";
import type { Session } from "../../session/session.js";
import type { ServiceAccess } from "../../session/types.js";
import { readRedisAddress } from "../../store/redis/redis-address.js";
import { secretOrigin, secrets } from "../options/secrets.js";
import { withSession } from "../services/services.js";
import { type Check, type DoctorCall, fail, failWith, ok, warn } from "./check.js";

/**
 * Makes one request as a run does, and reports what it shows of address, connection, service, key and
 * clock; then the use of quotas.
 *
 * @param isPaceUp false if requests would wait for the Redis of their pace
 */
export async function* checkService(
  call: DoctorCall,
  service: ServiceAccess,
  isPaceUp: boolean,
): AsyncGenerator<Check, void, undefined> {
  const isBeta = /\/beta\/?$/.test(service.url);
  if (service.embedded) yield ok("address", "the embedded service");
  else if (isBeta) yield ok("address", service.url);
  else {
    const remedy = `try ${service.url.replace(/\/+$/, "")}/beta`;
    yield warn("address", `${service.url} does not end in /beta`, remedy);
  }
  if (isPaceUp) {
    yield* checkAnswer(call, service);
    yield* checkQuotas(call, service);
  } else yield warn("service", "not asked: requests wait for the Redis of --pace", "see pace");
}

async function* checkAnswer(
  call: DoctorCall,
  service: ServiceAccess,
): AsyncGenerator<Check, void, undefined> {
  const { clock } = call.context;
  const { connection, report, error } = await ask(call, service);
  if (connection !== null) yield* connectionChecks(new URL(service.url), connection, clock.now());
  const name = checkOf[error?.code ?? ""] ?? "service";
  if (error === null || name === "key") {
    yield ok("service", `answered in ${Math.round(report?.ms ?? 0)} ms`);
  }
  if (error === null) yield keyCheck(call, service);
  else if (error instanceof EarlyEndError) {
    yield warn("service", `not asked: ${error.message}`, "run doctor again after that time");
  } else if (error instanceof ReputeError) yield failWith(name, error);
  else {
    const { code, message } = error;
    const other = code === "http_404" ? "check the address" : "lower --rate, or run again later";
    const remedy = serviceCodes[code as keyof typeof serviceCodes]?.[1] ?? other;
    yield (code === "http_429" || code === "http_503" ? warn : fail)(name, message, remedy);
  }
  const servedMs = Date.parse(String(report?.headers?.["date"]));
  if (!Number.isNaN(servedMs)) yield clockCheck(servedMs, clock.now());
}

/** The check that an error belongs to, if not to that of the service. */
const checkOf: Readonly<Record<string, string>> = {
  dns_failure: "dns",
  connect_refused: "connection",
  connect_timeout: "connection",
  connect_failed: "connection",
  proxy_failure: "connection",
  invalid_proxy: "connection",
  tls_failure: "connection",
  certificate_rejected: "certificate",
  unauthorized: "key",
  forbidden: "key",
  authentication_failed: "key",
};

/** The other end of a connection. */
interface Connection {
  readonly address: string | undefined;
  readonly port: number | undefined;
  /** End of its certificate, as Node.js has it; null without TLS. */
  readonly validTo: string | null;
}

/** An address for documentation (RFC 5737), which no network has. */
const item = { kind: "ip", value: "192.0.2.1" } as const;

/** Makes one request, within the pace and the quotas of every other command. */
async function ask(call: DoctorCall, service: ServiceAccess) {
  const { context, settings } = call;
  const usedUp = new AbortController();
  const signal = AbortSignal.any([context.signal, usedUp.signal]);
  let connection = null as Connection | null;
  let report = null as AttemptReport | null;
  const onConnected = (event: unknown): void => {
    const { socket } = event as { readonly socket: Socket };
    const validTo =
      socket instanceof TLSSocket ? (socket.getPeerCertificate().valid_to ?? null) : null;
    connection = { address: socket.remoteAddress, port: socket.remotePort, validTo };
  };
  const quickCheck = async (session: Session): Promise<FindingError | null> => {
    await (await session.paces()).run.take(signal);
    return (await (await session.intel()).quickCheck(item, { signal })).error;
  };
  const once = { context, settings: { ...settings, retries: 0 } };
  subscribe("undici:client:connected", onConnected);
  const error = await withSession(service, once, quickCheck, {
    onEarlyEnd: (reason) => usedUp.abort(reason),
    onAttempt: (attempt) => (report = attempt),
  }).catch((error: unknown) => {
    context.signal.throwIfAborted();
    if (error instanceof ReputeError) return error;
    throw error;
  });
  unsubscribe("undici:client:connected", onConnected);
  return { connection, report, error };
}

/** What a connection shows of name, address and certificate. */
function* connectionChecks(
  url: URL,
  { address, port, validTo }: Connection,
  nowMs: number,
): Generator<Check> {
  const proxy = proxyFor(url, process.env);
  if (proxy !== null) yield ok("connection", `through the proxy ${proxy.name}`);
  else {
    if (isIP(url.hostname.replace(/^\[|\]$/g, "")) === 0) {
      yield ok("dns", `${url.hostname} is ${address}`);
    }
    yield ok("connection", `${address} port ${port}`);
  }
  if (validTo !== null) yield certificateCheck(validTo, nowMs);
  else if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    const remedy = "use https://, or others can read the API key";
    yield warn("certificate", "http:// is not encrypted", remedy);
  }
}

/** Days before its end from which a certificate is warned about. */
const soon = 14;

/** @param validTo the end of a trusted certificate, as Node.js has it */
export function certificateCheck(validTo: string, nowMs: number): Check {
  const days = Math.floor((Date.parse(validTo) - nowMs) / 86_400_000);
  const finding = `valid until ${new Date(validTo).toISOString().slice(0, 10)}, ${days} days left`;
  if (days >= soon) return ok("certificate", finding);
  return warn("certificate", finding, "ask the service's operator to renew it");
}

function keyCheck({ given, context }: DoctorCall, { credential }: ServiceAccess): Check {
  if (credential === null) return ok("key", "none set, none needed");
  const origin = secretOrigin(secrets.intel, given, context.env);
  const isFile = origin !== null && origin !== "variable";
  return ok("key", `accepted (from ${isFile ? String(origin.value) : secrets.intel.variable})`);
}

/** Difference from the service's clock, in milliseconds, that is warned about. */
const skewMs = 60_000;

/** Compares this machine's time with that of the service, both in milliseconds since 1970. */
export function clockCheck(servedMs: number, nowMs: number): Check {
  const skew = nowMs - servedMs;
  if (Math.abs(skew) <= skewMs) return ok("clock", "agrees with the service");
  return warn(
    "clock",
    `${Math.round(Math.abs(skew) / 60_000)} min ${skew > 0 ? "ahead of" : "behind"} the service`,
    "set this machine's clock (timedatectl set-ntp true): quotas, deadlines and the cache depend on it",
  );
}

/** How much of the quotas of a service is used; a line for each. */
async function* checkQuotas(
  { settings, context }: DoctorCall,
  { url: service, embedded }: ServiceAccess,
): AsyncGenerator<Check, void, undefined> {
  const { quotaOfAll } = await import("../../session/paces.js");
  const { quotasOf, usedQuotas } = await import("../../session/used-quotas.js");
  const quotas = quotasOf(settings);
  if (quotas.length === 0) yield ok("quota", "none set (--rate N/h or N/d sets one)");
  else if (embedded) yield ok("quota", "not counted for the embedded service");
  if (quotas.length === 0 || embedded) return;
  const { pace } = settings;
  const { env: environment, clock } = context;
  const notes: string[] = [];
  const onWarning = (message: string): void => void notes.push(message);
  const stateFolder = userStateFolder(environment);
  const counter = { pace, service, stateFolder, environment, onWarning };
  const used = await usedQuotas(counter, quotas, clock.now()).catch((error: unknown) => {
    if (!(error instanceof ReputeError)) throw error;
    notes.push(`${error.message}: the use of quotas is unknown`);
    return null;
  });
  for (const note of notes) yield warn("quota", note, "see the message");
  const place = pace === undefined ? "" : `, counted in ${readRedisAddress(pace).shown}`;
  for (const [at, spent] of (used ?? []).entries()) {
    const { scope, rate } = quotas[at]!;
    const share = `${formatCount(Math.min(rate.count, spent))} of ${counted(rate.count, "request")}`;
    const of = scope === quotaOfAll ? "" : ` of ${scope}`;
    const finding = `${share}${of} used in ${rate.perMs / 3_600_000} h${place}`;
    const remedy = "once it is used up, runs end with exit code 75 until requests expire";
    yield spent < 0.9 * rate.count ? ok("quota", finding) : warn("quota", finding, remedy);
  }
}
