import { raceAbort } from "../../../core/abort.js";
import { isLoopback } from "../../../client/api/http/proxy.js";
import type { AttemptReport } from "../../../client/api/types.js";
import { serviceCodes, transportCodes } from "../../../core/row-codes.js";
import { EarlyEndError, ReputeError } from "../../../core/errors.js";
import type { Finding as Found, FindingError } from "../../../core/finding.js";
import type { Session } from "../../../client/session/session.js";
import type { ServiceAccess, SessionSettings } from "../../../client/session/types.js";
import { secretOrigin, secrets } from "../../options/secrets.js";
import { withSession, type ServiceChoice } from "../../sessions.js";
import { constants, existsSync } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { readExclusions } from "../../../core/exclusions/read-exclusions.js";
import { realPath, userStateFolder } from "../../../core/files/folders.js";
import { faultReason } from "../../../core/files/system-fault.js";
import { formatBytes, formatCount, counted } from "../../../core/wording/quantity.js";
import { checkFolder } from "../../../io/output/check-paths.js";
import type { CommandCall } from "../../command.js";
import { openQueue } from "../../../client/workers/lookup-queue.js";
import type { QueueAddress } from "../../../client/workers/lookup-queue.js";
import { ratesText } from "../../../client/workers/shared-rate.js";
import { faultText } from "../../../core/redis.js";

export type DoctorCall = CommandCall<
  ServiceChoice &
    Omit<SessionSettings, "retries"> & {
      readonly output: string;
      readonly json: boolean;
    }
>;

type Finding = readonly [
  status: "ok" | "warn" | "fail",
  finding: string,
  remedy?: string | null | undefined,
];

export type Check = readonly [check: string, ...Finding];

/** Checks what the run depends on, cheapest first, and reports each check when it is done. */
export async function checkAll(
  call: DoctorCall,
  report: (check: Check) => Promise<void>,
): Promise<void> {
  const { settings, context } = call;
  for (const [check, find] of machineChecks(call)) {
    await report(await find().then((finding) => [check, ...finding] as const, failed(check)));
  }
  try {
    const own = { ...settings, retries: 0, cache: undefined };
    await withSession("intel", { ...call, settings: own }, async (session) => {
      const { workers: address } = settings;
      const where = { baseUrl: session.service.url, environment: context.env };
      const queue = address === undefined ? [] : await queueChecks({ ...where, address });
      for (const check of queue) await report(check);
      // Without workers, the request would wait.
      const isAnswered = queue.every(([, status]) => status !== "fail");
      for (const check of await serviceChecks(call, session, isAnswered)) await report(check);
    });
  } catch (error) {
    context.signal.throwIfAborted();
    // Nothing was started.
    await report(failed(checkOf(String((error as Partial<ReputeError>).code)))(error));
  }
}

/** @throws the error itself unless it explains what to do */
function failed(check: string): (error: unknown) => Check {
  return (error) => {
    if (error instanceof ReputeError) return [check, "fail", error.message, error.hint];
    throw error;
  };
}

function machineChecks({ settings, context }: DoctorCall) {
  const { output, cache, exclude = [] } = settings;
  const file = realPath(output);
  const checks: (readonly [check: string, find: () => Promise<Finding>])[] = [
    ["state folder", () => disk(userStateFolder(context.env))],
  ];
  if (output !== "-" && !/^[\w+.-]+:/.test(output)) {
    checks.push(["output folder", () => checkFolder(file).then(() => disk(dirname(file)))]);
  }
  checks.push(["cache", () => cacheFinding(cache)]);
  for (const path of exclude) checks.push(["exclusions", () => exclusions(path)]);
  return checks;
}

/** Makes one request as a run does: certificate, service or connection, key and clock. */
async function serviceChecks(
  call: DoctorCall,
  session: Session,
  isAnswered: boolean,
): Promise<readonly Check[]> {
  const { service } = session;
  const checks: Check[] = [["address", ...addressFinding(service)]];
  if (!isAnswered) {
    const finding = "not asked: requests wait for workers";
    return [...checks, ["service", "warn", finding, "see queue and workers"]];
  }
  const { report, error } = await ask(call, session);
  const fault = error === null ? null : faultOf(error);
  const { protocol, hostname } = new URL(service.url);
  if (protocol === "https:" && (report?.headers ?? null) !== null) {
    checks.push(["certificate", "ok", "trusted"]);
  } else if (protocol === "http:" && !isLoopback(hostname)) {
    const remedy = "use https://, or others can read the API key";
    checks.push(["certificate", "warn", "http:// is not encrypted", remedy]);
  }
  if (fault === null || fault[0] === "key") {
    checks.push(["service", "ok", `answered in ${Math.round(report?.ms ?? 0)} ms`]);
  }
  checks.push(fault ?? ["key", ...keyFinding(call, service)]);
  const servedMs = Date.parse(String(report?.headers?.["date"]));
  if (Number.isNaN(servedMs)) return checks;
  return [...checks, ["clock", ...time(servedMs, call.context.clock.now())]];
}

function addressFinding({ url, embedded }: ServiceAccess): Finding {
  if (embedded) return ["ok", "the embedded service"];
  if (/\/beta\/?$/.test(url)) return ["ok", url];
  return ["warn", `${url} does not end in /beta`, `try ${url.replace(/\/+$/, "")}/beta`];
}

/** Looks one item up, within the pace and the quotas of every other command, and ends at the first answer. */
async function ask({ context }: DoctorCall, session: Session) {
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  let [report, found] = [null as AttemptReport | null, null as Found | null];
  const { lookup } = await session.lookup({
    settings: { lookups: ["quick-check"], partialRetries: 0, bogons: "ask", exclude: [] },
    store: {
      get: () => null,
      put(_key, { finding }) {
        found = finding;
        ended.abort();
      },
    },
    asReceived: false,
    onAttempt: (attempt) => (report = attempt),
    onEarlyEnd: (reason) => ended.abort(reason),
  });
  // An address for documentation (RFC 5737), which no network has.
  const asking = lookup({ kind: "ip", value: "192.0.2.1" }, { signal });
  const error = await asking.then(
    (finding) => finding.error,
    (fault: unknown) => {
      context.signal.throwIfAborted();
      if (found !== null) return found.error;
      if (fault instanceof ReputeError) return fault;
      throw fault;
    },
  );
  return { report, error };
}

function faultOf(error: FindingError | ReputeError): Check {
  const { code, message } = error;
  if (error instanceof EarlyEndError) {
    return ["service", "warn", `not asked: ${message}`, "run doctor again after that time"];
  }
  const check = checkOf(code);
  if (error instanceof ReputeError) return failed(check)(error);
  const other = code === "http_404" ? "check the address" : "lower --rate, or run again later";
  const remedy = serviceCodes[code as keyof typeof serviceCodes]?.[1] ?? other;
  return [check, code === "http_429" || code === "http_503" ? "warn" : "fail", message, remedy];
}

function checkOf(code: string): string {
  if (/_url|^synthetic/.test(code)) return "address";
  if (/^secret_|^unauthorized|^forbidden|^authentication/.test(code)) return "key";
  if (code === "certificate_rejected") return "certificate";
  return code in transportCodes ? "connection" : "service";
}

function keyFinding(
  { given, context, settings }: DoctorCall,
  { credential }: ServiceAccess,
): Finding {
  if (settings.workers !== undefined) return ["ok", "accepted (of a worker)"];
  if (credential === null) return ["ok", "none set, none needed"];
  const origin = secretOrigin(secrets.intel, given, context.env);
  const isFile = origin !== null && origin !== "variable";
  return ["ok", `accepted (from ${isFile ? String(origin.value) : secrets.intel.variable})`];
}

/** Compares this machine's time with that of the service, both in milliseconds since 1970. */
export function time(servedMs: number, nowMs: number): Finding {
  const minutes = (nowMs - servedMs) / 60_000;
  if (Math.abs(minutes) <= 1) return ["ok", "agrees with the service"];
  return [
    "warn",
    `${Math.round(Math.abs(minutes))} min ${minutes > 0 ? "ahead of" : "behind"} the service`,
    "set this machine's clock (timedatectl set-ntp true): quotas, deadlines and the cache depend on it",
  ];
}

/** Whether a folder, or the one that it would be made in, is writable and has space. */
async function disk(folder: string | null): Promise<Finding> {
  if (folder === null) {
    const remedy = "set HOME, so that quotas are counted across runs";
    return ["warn", "neither XDG_STATE_HOME nor HOME is set", remedy];
  }
  let existing = folder;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    // With the slash, a file of that name is an error.
    await access(`${existing}/`, constants.W_OK);
    const { bavail, bsize } = await statfs(existing);
    return space(folder, bavail * bsize);
  } catch (error) {
    const finding = `cannot write to ${folder}: ${faultReason(error)}`;
    return ["fail", finding, "name another folder, or correct the permissions of this one"];
  }
}

/** @param free bytes */
export function space(folder: string, free: number): Finding {
  const finding = `${folder}, ${formatBytes(free)} free`;
  if (free >= 1e9) return ["ok", finding];
  return [free < 50e6 ? "fail" : "warn", finding, "free space on that disk"];
}

/** Opens a cache as a run does, but creates none. */
async function cacheFinding(cache: string | undefined): Promise<Finding> {
  if (cache === undefined) return ["ok", "none in use"];
  const { cacheSize } = await import("../../../client/store/cache.js");
  const bytes = await cacheSize(cache);
  const [status, finding, remedy] = await disk(resolve(cache));
  return [status, `${finding}; ${bytes === null ? "no answers yet" : formatBytes(bytes)}`, remedy];
}

async function exclusions(path: string): Promise<Finding> {
  const [list] = await readExclusions([path]);
  const { entries, sample } = list!;
  if (sample === null) return ["warn", `${path} has no entries`, "add some, or leave the list out"];
  const size = entries === 1 ? "1 entry" : `${formatCount(entries)} entries`;
  return ["ok", `${path}, ${size}, such as ${sample}`];
}

/** How long Redis may take to answer, in milliseconds. */
const patienceMs = 5_000;

/** Looks at the queue of a service: Redis, the lookups in it, its workers and their rate. */
async function queueChecks(where: QueueAddress): Promise<readonly Check[]> {
  const found = await lookAt(where).catch((error: Error) => error);
  if (found instanceof ReputeError) return [failed("queue")(found)];
  if (found instanceof Error) {
    const finding = `${faultText(found)}; runs wait for it`;
    return [["queue", "fail", finding, "start Redis, or check the address"]];
  }
  const { shown, memory, open, workers, rate } = found;
  const finding = `${shown}, ${counted(open, "lookup")} waiting or open`;
  const isKept = /^maxmemory(?:_policy:noeviction|:0)\r$/m.test(memory);
  const start = `start some: repute worker ${shown} --intel-url ${where.baseUrl}`;
  return [
    isKept
      ? ["queue", "ok", finding]
      : ["queue", "warn", `${finding}, may drop some`, "set maxmemory-policy noeviction"],
    workers === 0
      ? ["workers", "fail", "none is connected for this service", start]
      : ["workers", "ok", `${formatCount(workers)} connected for this service`],
    ...(rate === null ? [] : [["rate", "ok", `${rate}, all workers together`] as const]),
  ];
}

async function lookAt(where: QueueAddress) {
  const shared = await openQueue(where);
  const { connection, queue } = shared;
  const { shown, redis, lastFault } = connection;
  const late = AbortSignal.timeout(patienceMs);
  try {
    const asked = Promise.all([
      queue.getJobCountByTypes("waiting", "active"),
      queue.getWorkersCount(),
      ratesText(shared),
      redis.info("memory"),
    ]);
    const [open, workers, rate, memory] = await raceAbort(asked, late);
    return { shown, open, workers, rate, memory };
  } catch (error) {
    throw late.aborted ? new Error(`${shown} is away (${lastFault()})`, { cause: error }) : error;
  } finally {
    connection.close();
  }
}
