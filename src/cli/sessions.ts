import type { z } from "zod";
import type { CommandCall } from "./command.js";
import type { ClientOptions } from "../client/api/caller.js";
import type { ServiceName } from "../client/api/service-description.js";
import { readSecret, secrets } from "./options/secrets.js";
import { UsageError } from "../core/errors.js";
import type { ServiceAccess, Session } from "../client/session/session.js";
import { type ResourceStack, withResources } from "../core/resource-stack.js";
import { cliOptions } from "./options/cli-options.js";
import { flagName, type GivenSettings, settingLevels, variableName } from "./options/settings.js";
import { type OutputCall, printRecords, showRecord } from "./terminal/data-output.js";
import { userStateFolder } from "../core/files/folders.js";
import { apiOptions, caseOptions } from "../client/api/options.js";
import { isQuota } from "../core/options.js";
import { lookupOptions } from "../client/lookup/options.js";

type SessionCall = Pick<
  CommandCall<ServiceChoice & Session["settings"]>,
  "settings" | "given" | "context"
> &
  Pick<ClientOptions, "onAttempt">;

/**
 * Calls `use` with a session of the service, and closes it afterwards. With `--local`, the embedded
 * service runs meanwhile on a free loopback port. It accepts the key in a file named by a flag, else a
 * sample key. Variables and config files are ignored: their keys may belong to a real service.
 *
 * @throws UsageError if an address or a credential is missing, before anything is started
 */
export function withSession<T>(
  name: ServiceName,
  call: SessionCall,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  return withResources(async (stack) => {
    const { settings, context, onAttempt } = call;
    const { clock, env, reporter } = context;
    const service = await openService(name, call, stack);
    const stateFolder = userStateFolder(env);
    if (stateFolder === null && !service.embedded) await refuseUncounted(settings);
    const { onWarning } = reporter.listener;
    const { Session } = await import("../client/session/session.js");
    const options = { service, settings, clock, stateFolder, onWarning, onAttempt };
    return use(stack.use(new Session(options)));
  });
}

/** Prints an answer: one record, or a list of them if columns are given. */
export function printAnswer<T extends object>(
  service: ServiceName,
  call: SessionCall & OutputCall,
  ask: (session: Session) => Promise<T | Iterable<T> | AsyncIterable<T>>,
  columns: Parameters<typeof printRecords<T>>[2] | null = null,
): Promise<void> {
  return withSession(service, call, async (session) => {
    const answer = await ask(session);
    if (columns === null) await showRecord(call, answer);
    else await printRecords(call, answer as Iterable<T>, columns);
  });
}

async function openService(
  name: ServiceName,
  { settings, given, context }: SessionCall,
  stack: ResourceStack,
): Promise<ServiceAccess> {
  const url = chooseAddress(name, settings, given);
  if (name === "intel" && url !== null && settings.synthetic !== undefined) {
    throw new UsageError("synthetic_without_local", "--synthetic needs the embedded service", {
      hint: "add --local, and omit the address of the service",
    });
  }
  const secret = secrets[name];
  const isNamed = given.get(secret.fileKey)?.level === "flag";
  const credential = url === null && !isNamed ? null : await readSecret(secret, given, context);
  if (url !== null) return { url, name: url, credential, embedded: false };
  const { startEmbedded } = await import("../service/service.js");
  const own = { [name]: credential ?? undefined };
  return stack.use(await startEmbedded(own, settings.synthetic)).access[name];
}

/** @throws UsageError `quota_uncounted` if a quota is set, since it needs a folder to count in */
async function refuseUncounted(settings: Session["settings"]): Promise<void> {
  if (settings.rate?.some(isQuota) !== true) return;
  const { quotaUncounted } = await import("../client/store/quotas.js");
  throw quotaUncounted("without a state folder: neither XDG_STATE_HOME nor HOME is set");
}

type ServiceChoice = Pick<z.output<typeof cliOptions>, "local" | "synthetic"> &
  Partial<Record<"intelUrl" | "opsUrl" | "caseUrl", string | undefined>>;

/** For each service: the setting of its address, its name, and an example address. */
const addresses = {
  intel: ["intelUrl", "service", "https://intel.example/beta"],
  ops: ["opsUrl", "operations interface", "https://ops.example"],
  case: ["caseUrl", "case management instance", "https://cases.example"],
} as const;

/**
 * Chooses between the embedded service and an address. If both are set, the stronger source wins: a
 * flag overrides a variable.
 *
 * @returns the address, or null for the embedded service
 * @throws UsageError if neither is set, or if both are set at the same level
 */
export function chooseAddress(
  service: ServiceName,
  choice: ServiceChoice,
  given: GivenSettings,
): string | null {
  const [key, name, example] = addresses[service];
  const address = choice[key];
  if (address === undefined) {
    if (choice.local) return null;
    throw new UsageError(`${service}_url_missing`, `no ${name} configured`, {
      hint:
        `set its address, such as ${example}, with --${flagName(key)} URL, ${variableName(key)}, ` +
        `or "${flagName(key)}" in the config file (--config FILE, or ~/.config/repute/config.yaml); or try repute with --local`,
    });
  }
  if (!choice.local) return address;
  const [localAt, urlAt] = [strength(given, "local"), strength(given, key)];
  if (localAt !== urlAt) return localAt < urlAt ? null : address;
  const names = ["local", key].map((key) => given.get(key)?.name).join(" and ");
  throw new UsageError(`local_and_${service}_url`, `${names} exclude each other`, {
    hint: "keep one: the embedded service, or the service at the address",
  });
}

function strength(given: GivenSettings, key: string): number {
  const level = given.get(key)?.level;
  return level === undefined ? settingLevels.length : settingLevels.indexOf(level);
}

const { local, synthetic, json } = cliOptions.shape;
const { intelUrl, apiKeyFile, timeout } = apiOptions.shape;
const { bogons, exclude, urlQuery, cache, cacheTtl } = lookupOptions.shape;
const { rate, concurrency, workers, retries } = lookupOptions.shape;

/** Options of commands that look items up. */
export const lookupGroups = {
  Service: { intelUrl, local, synthetic, timeout, apiKeyFile },
  Lookups: { bogons, exclude, urlQuery, cache, cacheTtl },
  Pace: { rate, concurrency, workers, retries },
};

/** Options of commands that send requests other than lookups. */
const callGroups = { Pace: { timeout, rate, retries }, Run: { json } };

/** Options of commands that use the threat intelligence API. */
export const intelCallGroups = {
  Service: { intelUrl, local, synthetic, apiKeyFile },
  ...callGroups,
};

/** Options of commands that use the case management instance. */
export const caseCallGroups = { Service: { ...caseOptions.shape, local }, ...callGroups };
