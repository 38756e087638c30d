import { raceAbort } from "../../../core/abort.js";
import { isLoopback } from "../../../client/api/http/proxy.js";
import type { AttemptReport } from "../../../client/api/types.js";
import { serviceCodes, transportCodes } from "../../../core/row-codes.js";
import { EarlyEndError, ReputeError } from "../../../core/errors.js";
import type { FindingError } from "../../../core/finding.js";
import type { Item } from "../../../core/item/item.js";
import type { Session } from "../../../client/session/session.js";
import type { ServiceAccess, SessionSettings } from "../../../client/session/types.js";
import { MemoryStore } from "../../../client/store/store.js";
import { secretOrigin, secrets } from "../../options/secrets.js";
import { withSession, type ServiceChoice } from "../../services/services.js";
import { constants, existsSync } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { readExclusions } from "../../../core/exclusions/read-exclusions.js";
import { realPath, userStateFolder } from "../../../core/files/folders.js";
import { faultReason } from "../../../core/files/system-fault.js";
import { installCommand, optionalPackages } from "../../../core/load-driver.js";
import { formatBytes, formatCount, counted } from "../../../core/wording/quantity.js";
import { checkFolder } from "../../../io/output/check-paths.js";
import type { CommandCall } from "../../command.js";
import { openQueue } from "../../../client/workers/lookup-queue.js";
import type { QueueAddress } from "../../../client/workers/lookup-queue.js";
import { ratesText } from "../../../client/workers/shared-rate.js";
import { faultText } from "../../../core/redis.js";

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

export type DoctorCall = CommandCall<
  ServiceChoice &
    Omit<SessionSettings, "retries"> & {
      readonly output: string;
      readonly json: boolean;
    }
>;

type Found = readonly [status: "ok" | "warn" | "fail", finding: string, remedy?: string | null];

export type Check = readonly [check: string, ...Found];

type Checks = AsyncGenerator<Check, void, undefined>;

export function failed(check: string, { message, hint }: ReputeError): Check {
  return [check, "fail", message, hint];
}

export async function* checkMachine(call: DoctorCall): Checks {
  const { settings, configFile, profile, context } = call;
  const { output, cache, exclude = [] } = settings;
  const config = configFile ?? "no config file";
  const stateFolder = userStateFolder(context.env);
  const isFile = output !== "-" && !/^[\w+.-]+:/.test(output);
  const checks: (readonly [check: string, find: () => Found | Promise<Found>])[] = [
    ["node", () => ["ok", `Node.js ${process.versions.node}`]],
    ["packages", packages],
    ["config", () => ["ok", profile === null ? config : `${config}, profile ${profile}`]],
    ["state folder", () => disk(stateFolder)],
  ];
  if (cache !== undefined) checks.push(["cache folder", () => disk(resolve(cache))]);
  if (isFile) {
    const file = realPath(output);
    checks.push(["output folder", () => checkFolder(file).then(() => disk(dirname(file)))]);
  }
  checks.push(["cache", () => (cache === undefined ? ["ok", "none in use"] : cacheFile(cache))]);
  for (const path of exclude) checks.push(["exclusions", () => exclusions(path)]);
  for (const [check, find] of checks) {
    try {
      yield [check, ...(await find())];
    } catch (error) {
      if (!(error instanceof ReputeError)) throw error;
      yield failed(check, error);
    }
  }
}

/** Which optional packages there are. None is needed until an input, output or address asks for it. */
function packages(): Found {
  const { folder, found, missing } = optionalPackages();
  if (missing.length === 0) return ["ok", `all ${found.length} optional ones in ${folder}`];
  const listed = found.length === 0 ? "no optional ones" : found.join(", ");
  const remedy = `to add those: ${installCommand(missing.join(" "))}`;
  return ["ok", `${listed} in ${folder}; without ${missing.join(", ")}`, remedy];
}

/** Whether a folder, or the one that it would be made in, is writable and has space. */
async function disk(folder: string | null): Promise<Found> {
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
export function space(folder: string, free: number): Found {
  const finding = `${folder}, ${formatBytes(free)} free`;
  if (free >= 1e9) return ["ok", finding];
  return [free < 50e6 ? "fail" : "warn", finding, "free space on that disk"];
}

/** Opens a cache as a run does, but creates none. */
async function cacheFile(cache: string): Promise<Found> {
  const { cacheBytes, cacheFault, openCacheFile } = await import("../../../client/store/cache.js");
  const database = await openCacheFile(cache, true).catch((error: unknown) => {
    throw cacheFault(cache, "open", error);
  });
  database?.close();
  return [
    "ok",
    `${cache}, ${database === null ? "no answers yet" : formatBytes(cacheBytes(cache))}`,
  ];
}

async function exclusions(path: string): Promise<Found> {
  const [list] = await readExclusions([path]);
  const { entries, sample } = list!;
  if (sample === null) return ["warn", `${path} has no entries`, "add some, or leave the list out"];
  const size = entries === 1 ? "1 entry" : `${formatCount(entries)} entries`;
  return ["ok", `${path}, ${size}, such as ${sample}`];
}

/** How long Redis may take to answer, in milliseconds. */
const patienceMs = 5_000;

/** Looks at the queue of a service: Redis, the lookups in it, its workers and their rate. */
export async function* checkQueue(where: QueueAddress): Checks {
  const found = await lookAt(where).catch((error: Error) => error);
  if (found instanceof ReputeError) yield failed("queue", found);
  else if (found instanceof Error) {
    const finding = `${faultText(found)}; runs wait for it`;
    yield ["queue", "fail", finding, "start Redis, or check the address"];
  } else {
    const { shown, memory, open, workers, rate } = found;
    const finding = `${shown}, ${counted(open, "lookup")} waiting or open`;
    const isKept = /^maxmemory(?:_policy:noeviction|:0)\r$/m.test(memory);
    if (isKept) yield ["queue", "ok", finding];
    else yield ["queue", "warn", `${finding}, may drop some`, "set maxmemory-policy noeviction"];
    const start = `start some: repute worker ${shown} --intel-url ${where.baseUrl}`;
    if (workers === 0) yield ["workers", "fail", "none is connected for this service", start];
    else yield ["workers", "ok", `${formatCount(workers)} connected for this service`];
    if (rate !== null) yield ["rate", "ok", `${rate}, all workers together`];
  }
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
