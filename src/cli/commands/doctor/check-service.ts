import { isLoopback } from "../../../client/api/http/proxy.js";
import type { AttemptReport } from "../../../client/api/types.js";
import { serviceCodes, transportCodes } from "../../../core/row-codes.js";
import { EarlyEndError, ReputeError } from "../../../core/errors.js";
import type { FindingError } from "../../../core/finding.js";
import type { Item } from "../../../core/item/item.js";
import type { Session } from "../../../client/session/session.js";
import type { ServiceAccess } from "../../../client/session/types.js";
import { MemoryStore } from "../../../client/store/store.js";
import { secretOrigin, secrets } from "../../options/secrets.js";
import { withSession } from "../../services/services.js";
import { type Check, type Checks, type DoctorCall, failed, type Found } from "./check-machine.js";

/**
 * Makes one request as a run does: address, certificate, service or connection, key and clock.
 *
 * @param isAnswered false if the request would wait for workers
 */
export async function* checkService(
  call: DoctorCall,
  service: ServiceAccess,
  isAnswered: boolean,
): Checks {
  yield ["address", ...addressFinding(service)];
  if (!isAnswered) {
    yield ["service", "warn", "not asked: requests wait for workers", "see queue and workers"];
    return;
  }
  const { report, error } = await ask(call, service);
  const fault = error === null ? null : faultOf(error);
  const { protocol, hostname } = new URL(service.url);
  if (protocol === "https:" && (report?.headers ?? null) !== null)
    yield ["certificate", "ok", "trusted"];
  else if (protocol === "http:" && !isLoopback(hostname)) {
    const remedy = "use https://, or others can read the API key";
    yield ["certificate", "warn", "http:// is not encrypted", remedy];
  }
  if (fault === null || fault[0] === "key") {
    yield ["service", "ok", `answered in ${Math.round(report?.ms ?? 0)} ms`];
  }
  yield fault ?? ["key", ...keyFinding(call, service)];
  const servedMs = Date.parse(String(report?.headers?.["date"]));
  if (!Number.isNaN(servedMs)) yield ["clock", ...time(servedMs, call.context.clock.now())];
}

function addressFinding({ url, embedded }: ServiceAccess): Found {
  if (embedded) return ["ok", "the embedded service"];
  if (/\/beta\/?$/.test(url)) return ["ok", url];
  return ["warn", `${url} does not end in /beta`, `try ${url.replace(/\/+$/, "")}/beta`];
}

/** Makes one request, within the pace and the quotas of every other command. */
async function ask({ context, settings }: DoctorCall, service: ServiceAccess) {
  const usedUp = new AbortController();
  const signal = AbortSignal.any([context.signal, usedUp.signal]);
  let report = null as AttemptReport | null;
  const error = await withSession(
    service,
    { context, settings: { ...settings, retries: 0 } },
    async (session) => {
      // An address for documentation (RFC 5737), which no network has.
      const item = { kind: "ip", value: "192.0.2.1" } as const;
      if (settings.workers !== undefined) return askWorkers(session, item, signal);
      await (await session.pace()).take(signal);
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
  return { report, error };
}

/** Lets a worker make the request: the key is theirs. */
async function askWorkers(session: Session, item: Item, signal: AbortSignal) {
  const { lookup } = await session.lookup({
    settings: { lookups: ["quick-check"], partialRetries: 0, bogons: "ask" },
    store: new MemoryStore(),
    asReceived: false,
  });
  return (await lookup(item, { signal })).error;
}

function faultOf(error: FindingError | ReputeError): Check {
  const { code, message } = error;
  if (error instanceof EarlyEndError) {
    return ["service", "warn", `not asked: ${message}`, "run doctor again after that time"];
  }
  const check = checkOf(code);
  if (error instanceof ReputeError) return failed(check, error);
  const other = code === "http_404" ? "check the address" : "lower --rate, or run again later";
  const remedy = serviceCodes[code as keyof typeof serviceCodes]?.[1] ?? other;
  return [check, code === "http_429" || code === "http_503" ? "warn" : "fail", message, remedy];
}

function checkOf(code: string): string {
  if (["unauthorized", "forbidden", "authentication_failed"].includes(code)) return "key";
  if (code === "certificate_rejected") return "certificate";
  return code in transportCodes ? "connection" : "service";
}

function keyFinding(
  { given, context, settings }: DoctorCall,
  { credential }: ServiceAccess,
): Found {
  if (settings.workers !== undefined) return ["ok", "accepted (of a worker)"];
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
