import { caseOptions, opsOptions } from "../../client/api/options.js";
import { redactAddress } from "../../core/redaction.js";
import { sourceOptions } from "../../io/formats/source-options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { exitCodes } from "../../jobs/enrich/ending.js";
import { type GivenSetting, optionSpecs } from "../options/settings.js";
import { runGroups } from "./runs/enrich-job.js";
import { labelledText, narrow } from "../../core/wording/printable.js";
import { printRecords, widthOf, writeOut } from "../terminal/data-output.js";
import { openRequests, paceOf } from "../../client/lookup/options.js";
import { readSecret, type Secret, secretOrigin, secrets } from "../options/secrets.js";
import { isLoopback } from "../../client/api/http/proxy.js";
import type { AttemptReport } from "../../client/api/types.js";
import { serviceCodes, transportCodes } from "../../core/row-codes.js";
import { EarlyEndError, ReputeError } from "../../core/errors.js";
import type { Finding as Found, FindingError } from "../../core/finding.js";
import type { ServiceAccess, Session } from "../../client/session/session.js";
import { withSession } from "../sessions.js";
import { constants, existsSync } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { readExclusions } from "../../core/exclusions/read-exclusions.js";
import { userStateFolder } from "../../core/files/folders.js";
import { faultReason } from "../../core/files/system-fault.js";
import { formatBytes, formatCount, counted } from "../../core/wording/quantity.js";
import { chooseOutput } from "../../jobs/enrich/destination/choose-output.js";
import { inGroups } from "../../jobs/enrich/options.js";
import type { QueueAddress } from "../../client/workers/lookup-queue.js";
import { faultText } from "../../core/redis.js";

const groups = {
  Input: sourceOptions.shape,
  ...runGroups,
  Service: { ...runGroups.Service, ...opsOptions.shape, ...caseOptions.shape },
};

type DoctorCall = CommandCall<SettingsOf<typeof groups>>;

export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "check service, key and machine; list the settings in force",
  description: [
    "Checks what a run depends on (address, key, TLS, clock, disk, cache, queue and exclusion lists) and prints a line for each: ok, warn or fail, what was found, and what to do.",
    "Then it lists the settings that the run would have and where each comes from: a flag, a variable, a line of the config file, a profile, or the default. Give it the flags of the run. Secrets are shown as set or not set.",
    "The service gets one request, a quick check of 192.0.2.1, which counts against its quotas. Piped settings are one a line: name, value and origin, separated by tabs.",
  ],
  groups,
  examples: {
    "repute doctor": "check the service and this machine",
    "repute doctor --profile nightly -o /data/enriched.csv": "check what a nightly run would use",
  },
  exitCodes: { 0: "nothing failed; there may be warnings", 1: "something failed" },
  run: runChecks,
});

async function runChecks(call: DoctorCall): Promise<number> {
  const { context, settings, configFile: config_file, profile } = call;
  const checks: object[] = [];
  let ok = true;
  await checkAll(call, async (found) => {
    const [check, status, finding, remedy = null] = found;
    checks.push({ check, status, finding, remedy });
    ok &&= status !== "fail";
    if (!settings.json) await writeOut(context, `${lineOf(found, widthOf(context.stdout))}\n`);
  });
  const inForce = await settingsInForce(call);
  if (settings.json) {
    const all = { ok, checks, config_file, profile, ...inForce };
    await writeOut(context, `${JSON.stringify(all)}\n`);
  } else {
    await writeOut(context, "\n");
    await printSettings(call, inForce);
  }
  return ok ? exitCodes.done : exitCodes.stopped;
}

function lineOf([check, status, finding, remedy = null]: Check, width: number): string {
  const head = `${status.padEnd(4)}  ${check.padEnd("state folder".length)}`;
  const text = redactAddress(remedy === null ? finding : `${finding}; ${remedy}`);
  const column = width < narrow ? 6 : head.length + 2;
  return labelledText(head.trimEnd(), text.replaceAll("\n", " "), column, width);
}

/** The settings that a run has, with their origins; secrets only as set or not set. */
async function settingsInForce(call: DoctorCall) {
  const { settings } = call;
  const own = optionSpecs(doctorCommand.options).flatMap(({ key, flag, defaultText }) => {
    const given = call.given.get(key);
    const value = defaultOf(call, key, defaultText);
    const usual = { setting: flag, value, origin: "default", from: "default" } as const;
    if (given === undefined) return usual;
    const shown = shownSetting(flag, given);
    return key === "rate" && keepsDefaultRate(settings) ? [shown, usual] : shown;
  });
  const held = await Promise.all(Object.values(secrets).map((each) => shownSecret(each, call)));
  return { settings: own, secrets: held };
}

async function printSettings(
  call: DoctorCall,
  { settings, secrets }: Awaited<ReturnType<typeof settingsInForce>>,
): Promise<void> {
  const rows = [
    ...settings.filter(({ value }) => value !== null),
    ...secrets.map(({ secret, state, from }) => ({ setting: secret, value: state, from })),
  ];
  const columns = { setting: "setting", value: "value", from: "from" } as const;
  await printRecords(call, rows, columns, ({ setting, value, from }) =>
    [setting, value, from].join("\t"),
  );
}

/** The value in force for a setting that is not given; the schema does not know all. */
function defaultOf({ settings, configFile }: DoctorCall, key: string, text: string | null) {
  if (key === "config") return configFile;
  if (key === "concurrency") return String(openRequests(settings));
  if (key === "rate") return keepsDefaultRate(settings) ? "100/s" : "none";
  return text;
}

/** Whether the default rate is in force, with or without quotas on top. */
function keepsDefaultRate(settings: DoctorCall["settings"]): boolean {
  return paceOf(settings, settings.local).length > (settings.rate?.length ?? 0);
}

function shownSetting(setting: string, given: GivenSetting) {
  const { value, level: origin, name, place: from = name } = given;
  const text = Array.isArray(value) ? value.map(textOf).join(",") : textOf(value);
  return { setting, value: redactAddress(text), origin, from };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

async function shownSecret(secret: Secret, call: DoctorCall) {
  const { given, context } = call;
  const from = placeOf(secret, call);
  const read = readSecret(secret, given, context).then((value) => (value ? "set" : "not set"));
  const state = await read.catch((error: Error) => {
    context.signal.throwIfAborted();
    context.reporter.warning(error.message);
    return "not usable";
  });
  return { secret: secret.name, state, from };
}

/** Where a secret comes from: its variable, or the file and what names it; null if it is not set. */
function placeOf(secret: Secret, { given, context }: DoctorCall): string | null {
  const origin = secretOrigin(secret, given, context.env);
  if (origin === null || origin === "variable") return origin && secret.variable;
  return `${String(origin.value)} (${origin.place ?? origin.name})`;
}

type Finding = readonly [status: "ok" | "warn" | "fail", finding: string, remedy?: string | null];

type Check = readonly [check: string, ...Finding];

/** Checks what the run depends on, cheapest first, and reports each check when it is done. */
async function checkAll(call: DoctorCall, report: (check: Check) => Promise<void>): Promise<void> {
  const { settings, context } = call;
  const { output, cache, stateDir, exclude = [] } = settings;
  const check = async (name: string, finding: Promise<Finding>): Promise<void> =>
    report(await finding.then((found) => [name, ...found] as const, failed(name)));
  await check("state folder", disk(stateDir ?? userStateFolder(context.env)));
  if (output !== "-") await check("output", outputFinding(settings));
  await check("cache", cacheFinding(cache));
  for (const path of exclude) await check("exclusions", exclusions(path));
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
    // The session did not open, for example because no address is set.
    await report(failed(checkOf(String((error as Partial<ReputeError>).code)))(error));
  }
}

/** @throws the error itself unless it is a ReputeError */
function failed(check: string): (error: unknown) => Check {
  return (error) => {
    if (error instanceof ReputeError) return [check, "fail", error.message, error.hint];
    throw error;
  };
}

/** Checks where the output goes, without connecting to a database: a run does that before it asks. */
async function outputFinding(settings: DoctorCall["settings"]): Promise<Finding> {
  const { output: own, run } = inGroups(settings);
  const { upload } = await chooseOutput({ ...own, ...run }, async () => "csv", []);
  // Choosing an object makes a local folder.
  upload?.cleanEmpty();
  const { file, object, name, isTable } = own.output;
  if (isTable) return ["ok", `${name}: a run checks the table before its first request`];
  return file === null || object !== null ? ["ok", name] : disk(dirname(file));
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

/** Looks up one item under the pace and quotas of all commands, and stops at the first answer. */
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
  // An address for documentation (RFC 5737): no network has it.
  const error = await lookup({ kind: "ip", value: "192.0.2.1" }, { signal }).then(
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

function keyFinding(call: DoctorCall, { credential }: ServiceAccess): Finding {
  if (call.settings.workers !== undefined) return ["ok", "accepted (from the workers)"];
  if (credential === null) return ["ok", "none set, none needed"];
  return ["ok", `accepted (from ${placeOf(secrets.intel, call)})`];
}

/** Compares this machine's time with that of the service, both in milliseconds since 1970. */
export function time(servedMs: number, nowMs: number): Finding {
  const minutes = (nowMs - servedMs) / 60_000;
  if (Math.abs(minutes) <= 1) return ["ok", "agrees with the service"];
  const side = minutes > 0 ? "ahead of" : "behind";
  const remedy =
    "set this machine's clock (timedatectl set-ntp true): quotas, deadlines and the cache depend on it";
  return ["warn", `${Math.round(Math.abs(minutes))} min ${side} the service`, remedy];
}

/** Checks that a folder, or its nearest existing parent, is writable and has space. */
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
  const { cacheSize } = await import("../../client/store/cache.js");
  const bytes = cacheSize(cache);
  const [status, finding, ...remedy] = await disk(resolve(cache));
  const size = bytes === null ? "no answers yet" : formatBytes(bytes);
  return [status, `${finding}; ${size}`, ...remedy];
}

async function exclusions(path: string): Promise<Finding> {
  const [list] = await readExclusions([path]);
  const { entries, sample } = list!;
  if (sample === null) return ["warn", `${path} has no entries`, "add some, or leave the list out"];
  return ["ok", `${path}, ${counted(entries, "entry")}, such as ${sample}`];
}

/** Looks at the queue of a service: Redis, the lookups in it, its workers and their rate. */
async function queueChecks(where: QueueAddress): Promise<readonly Check[]> {
  const { queueState } = await import("../../client/workers/lookup-worker.js");
  const found = await queueState(where).catch((error: Error) => error);
  if (found instanceof ReputeError) return [failed("queue")(found)];
  if (found instanceof Error) {
    const finding = `${faultText(found)}; runs wait until Redis answers`;
    return [["queue", "fail", finding, "start Redis, or check the address"]];
  }
  const { shown, open, workers, rate } = found;
  const finding = `${shown}, ${counted(open, "lookup")} waiting or open`;
  const start = `start some: repute worker ${shown} --intel-url ${where.baseUrl}`;
  return [
    ["queue", "ok", finding],
    workers === 0
      ? ["workers", "fail", "none is connected for this service", start]
      : ["workers", "ok", `${formatCount(workers)} connected for this service`],
    ...(rate === null ? [] : [["rate", "ok", `${rate}, all workers together`] as const]),
  ];
}
