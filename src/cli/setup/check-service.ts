import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { isLoopback } from "../../api/http/proxy.js";
import type { AttemptReport } from "../../api/types.js";
import { serviceCodes, transportCodes } from "../../core/error-codes/service-codes.js";
import { EarlyEndError, ReputeError } from "../../core/errors.js";
import type { FindingError } from "../../core/finding.js";
import type { Session } from "../../session/session.js";
import type { ServiceAccess } from "../../session/types.js";
import { secretOrigin, secrets } from "../options/secrets.js";
import { withSession } from "../services/services.js";
import { type Check, type DoctorCall, fail, failWith, ok, warn } from "./check.js";

/**
 * Makes one request as a run does, and reports what it shows of address, connection, service, key and
 * clock.
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
  if (isPaceUp) yield* checkAnswer(call, service);
  else yield warn("service", "not asked: requests wait for the Redis of --pace", "see pace");
}

async function* checkAnswer(
  call: DoctorCall,
  service: ServiceAccess,
): AsyncGenerator<Check, void, undefined> {
  const { clock } = call.context;
  const { validTo, report, error } = await ask(call, service);
  const { protocol, hostname } = new URL(service.url);
  if (validTo !== null) yield certificateCheck(validTo, clock.now());
  else if (protocol === "http:" && !isLoopback(hostname)) {
    const remedy = "use https://, or others can read the API key";
    yield warn("certificate", "http:// is not encrypted", remedy);
  }
  const name = checkOf(error?.code ?? "");
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

/** The check that an error belongs to. */
function checkOf(code: string): string {
  if (["unauthorized", "forbidden", "authentication_failed"].includes(code)) return "key";
  if (code === "certificate_rejected") return "certificate";
  return code in transportCodes ? "connection" : "service";
}

/** An address for documentation (RFC 5737), which no network has. */
const item = { kind: "ip", value: "192.0.2.1" } as const;

/** Makes one request, within the pace and the quotas of every other command. */
async function ask(call: DoctorCall, service: ServiceAccess) {
  const { context, settings } = call;
  const usedUp = new AbortController();
  const signal = AbortSignal.any([context.signal, usedUp.signal]);
  let validTo: string | null = null;
  let report = null as AttemptReport | null;
  const onConnected = (event: unknown): void => {
    const { socket } = event as { readonly socket: Socket };
    if (socket instanceof TLSSocket) validTo = socket.getPeerCertificate().valid_to ?? null;
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
  return { validTo: validTo as string | null, report, error };
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
