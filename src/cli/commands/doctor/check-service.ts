import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { isLoopback } from "../../../api/http/proxy.js";
import type { AttemptReport } from "../../../api/types.js";
import { serviceCodes, transportCodes } from "../../../core/error-codes/service-codes.js";
import { EarlyEndError, ReputeError } from "../../../core/errors.js";
import type { ServiceAccess } from "../../../session/types.js";
import { secretOrigin, secrets } from "../../options/secrets.js";
import { withSession } from "../../services/services.js";
import { type Checks, type DoctorCall, failed, type Found } from "./check-machine.js";

/**
 * Makes one request as a run does: address, certificate, service or connection, key and clock.
 *
 * @param isPaceUp false if the request would wait for the Redis of its pace
 */
export async function* checkService(
  call: DoctorCall,
  service: ServiceAccess,
  isPaceUp: boolean,
): Checks {
  const { clock } = call.context;
  yield ["address", ...addressFinding(service)];
  if (!isPaceUp) {
    yield ["service", "warn", "not asked: requests wait for the Redis of --pace", "see pace"];
    return;
  }
  const { validTo, report, error } = await ask(call, service);
  const { protocol, hostname } = new URL(service.url);
  if (validTo !== null) yield ["certificate", ...certificate(validTo, clock.now())];
  else if (protocol === "http:" && !isLoopback(hostname)) {
    const remedy = "use https://, or others can read the API key";
    yield ["certificate", "warn", "http:// is not encrypted", remedy];
  }
  const check = checkOf(error?.code ?? "");
  if (error === null || check === "key") {
    yield ["service", "ok", `answered in ${Math.round(report?.ms ?? 0)} ms`];
  }
  if (error === null) yield ["key", ...keyFinding(call, service)];
  else if (error instanceof EarlyEndError) {
    const finding = `not asked: ${error.message}`;
    yield ["service", "warn", finding, "run doctor again after that time"];
  } else if (error instanceof ReputeError) yield failed(check, error);
  else {
    const { code, message } = error;
    const other = code === "http_404" ? "check the address" : "lower --rate, or run again later";
    const remedy = serviceCodes[code as keyof typeof serviceCodes]?.[1] ?? other;
    const isBusy = code === "http_429" || code === "http_503";
    yield [check, isBusy ? "warn" : "fail", message, remedy];
  }
  const servedMs = Date.parse(String(report?.headers?.["date"]));
  if (!Number.isNaN(servedMs)) yield ["clock", ...time(servedMs, clock.now())];
}

function addressFinding({ url, embedded }: ServiceAccess): Found {
  if (embedded) return ["ok", "the embedded service"];
  if (/\/beta\/?$/.test(url)) return ["ok", url];
  return ["warn", `${url} does not end in /beta`, `try ${url.replace(/\/+$/, "")}/beta`];
}

/** The check that an error belongs to. */
function checkOf(code: string): string {
  if (["unauthorized", "forbidden", "authentication_failed"].includes(code)) return "key";
  if (code === "certificate_rejected") return "certificate";
  return code in transportCodes ? "connection" : "service";
}

/** Makes one request, within the pace and the quotas of every other command. */
async function ask(call: DoctorCall, service: ServiceAccess) {
  const { context, settings } = call;
  const usedUp = new AbortController();
  const signal = AbortSignal.any([context.signal, usedUp.signal]);
  let validTo = null as string | null;
  let report = null as AttemptReport | null;
  const onConnected = (event: unknown): void => {
    const { socket } = event as { readonly socket: Socket };
    if (socket instanceof TLSSocket) validTo = socket.getPeerCertificate().valid_to ?? null;
  };
  subscribe("undici:client:connected", onConnected);
  const error = await withSession(
    service,
    { context, settings: { ...settings, retries: 0 } },
    async (session) => {
      await (await session.paces()).run.take(signal);
      // An address for documentation (RFC 5737), which no network has.
      const item = { kind: "ip", value: "192.0.2.1" } as const;
      return (await (await session.intel()).quickCheck(item, { signal })).error;
    },
    {
      onEarlyEnd: (reason) => usedUp.abort(reason),
      onAttempt: (attempt) => (report = attempt),
    },
  ).catch((error: unknown) => {
    context.signal.throwIfAborted();
    if (error instanceof ReputeError) return error;
    throw error;
  });
  unsubscribe("undici:client:connected", onConnected);
  return { validTo, report, error };
}

/** @param validTo the end of a trusted certificate, as Node.js has it */
export function certificate(validTo: string, nowMs: number): Found {
  const days = Math.floor((Date.parse(validTo) - nowMs) / 86_400_000);
  const finding = `valid until ${new Date(validTo).toISOString().slice(0, 10)}, ${days} days left`;
  return days >= 14 ? ["ok", finding] : ["warn", finding, "ask the service's operator to renew it"];
}

function keyFinding({ given, context }: DoctorCall, { credential }: ServiceAccess): Found {
  if (credential === null) return ["ok", "none set, none needed"];
  const origin = secretOrigin(secrets.intel, given, context.env);
  const isFile = origin !== null && origin !== "variable";
  return ["ok", `accepted (from ${isFile ? String(origin.value) : secrets.intel.variable})`];
}

/** Compares this machine's time with that of the service, both in milliseconds since 1970. */
export function time(servedMs: number, nowMs: number): Found {
  const minutes = (nowMs - servedMs) / 60_000;
  if (Math.abs(minutes) <= 1) return ["ok", "agrees with the service"];
  return [
    "warn",
    `${Math.round(Math.abs(minutes))} min ${minutes > 0 ? "ahead of" : "behind"} the service`,
    "set this machine's clock (timedatectl set-ntp true): quotas, deadlines and the cache depend on it",
  ];
}
