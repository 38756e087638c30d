import { createDispatcher } from "../../api/http/dispatcher.js";
import { proxyOf } from "../../api/http/proxy.js";
import type { Finding } from "../../core/finding.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { secretOrigin, secrets } from "../options/secrets.js";
import type { AttemptReport } from "../../api/types.js";
import type { Session } from "../../session/session.js";
import { withSession } from "../services/services.js";
import { checkConnection } from "./check-connection.js";
import type { ServiceAccess } from "../../session/types.js";
import { type Check, type DoctorCall, fail, failWith, ok, warn } from "./check.js";

/** Longest wait for a connection, in milliseconds; a request may take `--timeout`. */
const connectMs = 10_000;

/**
 * Checks address, connection, service, key and clock. Makes at most two requests.
 *
 * @param isPaceUp false if the pace of requests cannot be had from its Redis
 */
export async function* checkService(
  call: DoctorCall,
  service: ServiceAccess,
  isPaceUp: boolean,
): AsyncGenerator<Check, void, undefined> {
  const { context, settings } = call;
  const { clock, signal } = context;
  const url = new URL(service.url);
  const isBeta = endsInBeta(url);
  yield service.embedded
    ? ok("address", "the embedded service")
    : isBeta
      ? ok("address", service.url)
      : warn("address", `${service.url} does not end in /beta`, `try ${withBeta(service.url)}`);
  let proxy: string | null;
  try {
    const dispatcher = createDispatcher(service.url, { connections: 1 });
    proxy = proxyOf(dispatcher);
    await dispatcher.destroy();
  } catch (error) {
    yield failWith("connection", error);
    return;
  }
  if (proxy !== null) yield ok("connection", `through the proxy ${proxy}`);
  else {
    const timeoutMs = Math.min(settings.timeout, connectMs);
    for await (const check of checkConnection(url, { clock, timeoutMs, signal })) {
      yield check;
      if (check.status === "fail") return;
    }
  }
  if (isPaceUp) yield* checkAnswer(call, service, isBeta);
  else yield warn("service", "not asked: requests wait for the Redis of --pace", "see pace");
}

function endsInBeta({ pathname }: URL): boolean {
  return /\/beta\/?$/.test(pathname);
}

function withBeta(address: string): string {
  return `${address.replace(/\/+$/, "")}/beta`;
}

async function* checkAnswer(
  call: DoctorCall,
  service: ServiceAccess,
  isBeta: boolean,
): AsyncGenerator<Check, void, undefined> {
  const answer = await ask(call, service);
  if (answer.is === "used up") {
    yield warn("service", `not asked: ${answer.message}`, "run doctor again after that time");
    return;
  }
  if (answer.is === "refused") {
    yield ok("service", `answered in ${answer.ms} ms`);
    yield fail("key", answer.message, answer.hint);
  } else if (answer.is === "answered") {
    yield ok("service", `answered in ${answer.ms} ms`);
    yield keyCheck(call, service);
  } else {
    const { message, code } = answer;
    const elsewhere = isBeta || code !== "http_404" ? null : withBeta(service.url);
    const isThere =
      elsewhere !== null && (await ask(call, { ...service, url: elsewhere })).is !== "failed";
    yield code === "http_429" || code === "http_503"
      ? warn("service", message, "it throttles or is overloaded: lower --rate, or wait")
      : fail(
          "service",
          message,
          isThere
            ? `use ${elsewhere}, where it answers`
            : (remedies[code] ?? "check the address, and the service's status"),
        );
  }
  if (answer.date !== null) yield clockCheck(answer.date, call.context.clock.now());
}

const remedies: Readonly<Record<string, string>> = {
  http_404: "check the address: it ends in /beta at the deployed service",
  response_schema: "check the address: another server, a proxy or a login page may have answered",
  timeout: "raise --timeout, or check the service's status",
};

type Asked = { readonly date: string | null; readonly ms: number } & (
  | { readonly is: "answered" }
  | { readonly is: "refused"; readonly message: string; readonly hint: string | null }
  | { readonly is: "used up"; readonly message: string }
  | { readonly is: "failed"; readonly code: string; readonly message: string }
);

/** An address for documentation (RFC 5737), which no network has. */
const item = { kind: "ip", value: "192.0.2.1" } as const;

/** Makes one request, within the pace and the quotas of every other command. */
async function ask(call: DoctorCall, service: ServiceAccess): Promise<Asked> {
  const { context } = call;
  const once = { ...call, settings: { ...call.settings, retries: 0 } };
  const usedUp = new AbortController();
  const signal = AbortSignal.any([context.signal, usedUp.signal]);
  const heard = { date: null as string | null, ms: 0 };
  const onAttempt = ({ headers, ms }: AttemptReport): void => {
    const date = headers?.["date"];
    heard.date = typeof date === "string" ? date : null;
    heard.ms = Math.round(ms);
  };
  const askOnce = async (session: Session): Promise<Asked> => {
    const { run: pace } = await session.paces();
    await pace.take(signal);
    const client = await session.intel();
    const finding = await client.quickCheck(item, { signal });
    return { ...heard, ...answerOf(finding) };
  };
  const onEarlyEnd = (error: Error): void => usedUp.abort(error);
  try {
    return await withSession(service, once, askOnce, { onEarlyEnd, onAttempt });
  } catch (error) {
    context.signal.throwIfAborted();
    if (usedUp.signal.aborted) {
      return { ...heard, is: "used up", message: (error as Error).message };
    }
    if (!(error instanceof FatalError) && !(error instanceof UsageError)) throw error;
    return { ...heard, is: "refused", message: error.message, hint: error.hint };
  }
}

function answerOf({ status, error }: Finding) {
  if (status !== "failed" || error === null) return { is: "answered" } as const;
  return { is: "failed", code: error.code, message: error.message } as const;
}

function keyCheck({ given, context }: DoctorCall, { credential }: ServiceAccess): Check {
  if (credential === null) return ok("key", "none set, none needed");
  const origin = secretOrigin(secrets.intel, given, context.env);
  const path = origin === null || origin === "variable" ? null : String(origin.value);
  const from = path ?? secrets.intel.variable;
  return ok("key", `accepted (from ${from})`);
}

/** Difference from the service's clock, in milliseconds, that is warned about. */
const skewMs = 60_000;

/** @param date of the answer, as its header has it */
export function clockCheck(date: string, nowMs: number): Check {
  const skew = nowMs - Date.parse(date);
  if (!Number.isFinite(skew)) return ok("clock", "the service does not tell its time");
  if (Math.abs(skew) <= skewMs) return ok("clock", "agrees with the service");
  const minutes = Math.round(Math.abs(skew) / 60_000);
  return warn(
    "clock",
    `${minutes} min ${skew > 0 ? "ahead of" : "behind"} the service`,
    "set this machine's clock (timedatectl set-ntp true): quotas, deadlines and the cache depend on it",
  );
}
