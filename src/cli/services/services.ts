import type { CommandCall } from "../command.js";
import type { CaseClient, OpsClient } from "../../client/api/ops-client.js";
import type { IntelClient } from "../../client/api/intel-client.js";
import type { ServiceName } from "../../client/api/service-description.js";
import { readSecret, secrets } from "../options/secrets.js";
import { UsageError } from "../../core/errors.js";
import type { Session } from "../../client/session/session.js";
import { withResources } from "../../core/resource-stack.js";
import { flagName, variableName, cliOptions } from "../options/option-spec.js";
import { type GivenSettings, settingLevels } from "../options/settings.js";
import type { ServiceAccess, SessionOptions, SessionSettings } from "../../client/session/types.js";
import { userStateFolder } from "../../core/files/folders.js";
import { apiOptions, caseOptions, opsOptions } from "../../client/api/options.js";
import { isQuota } from "../../core/options.js";
import { lookupOptions } from "../../client/lookup/options.js";

type ServiceCall = Pick<CommandCall<ServiceChoice>, "settings" | "given" | "context">;

/**
 * Calls `use` with the named services. With `--local`, the embedded service runs meanwhile on a free
 * loopback port. It accepts the credential of a file named by a flag, else a sample credential: one
 * from a variable or config file may belong to a real service.
 *
 * @throws UsageError if an address or a credential is missing, before anything is started
 */
export async function withServices<Name extends ServiceName, T>(
  names: readonly Name[],
  { settings, given, context }: ServiceCall,
  use: (services: Readonly<Record<Name, ServiceAccess>>) => Promise<T>,
): Promise<T> {
  const remote: Partial<Record<ServiceName, ServiceAccess>> = {};
  const embeddedKeys: Partial<Record<ServiceName, string | undefined>> = {};
  for (const name of names) {
    const url = chooseAddress(name, settings, given);
    if (name === "intel" && url !== null && settings.synthetic !== undefined) {
      throw new UsageError("synthetic_without_local", "--synthetic needs the embedded service", {
        hint: "add --local, and omit the address of the service",
      });
    }
    const secret = secrets[name];
    const named = given.get(secret.fileKey)?.level === "flag";
    const credential = url === null && !named ? null : await readSecret(secret, given, context);
    if (url === null) embeddedKeys[name] = credential ?? undefined;
    else remote[name] = { url, name: url, credential, embedded: false };
  }
  const all = (services: typeof remote) => services as Readonly<Record<Name, ServiceAccess>>;
  if (names.every((name) => name in remote)) return use(all(remote));
  const { startEmbedded } = await import("../../service/embedded.js");
  const embedded = await startEmbedded(embeddedKeys, settings.synthetic);
  try {
    return await use(all({ ...embedded.access, ...remote }));
  } finally {
    await embedded.close();
  }
}

type SessionCall = Pick<CommandCall<SessionSettings>, "settings" | "context">;

/** Calls `use` with the session of a service, and closes it afterwards. */
export async function withSession<T>(
  service: ServiceAccess,
  { settings, context: { clock, env, reporter } }: SessionCall,
  use: (session: Session) => Promise<T>,
  listener: Pick<SessionOptions, "onEarlyEnd" | "onAttempt"> = {},
): Promise<T> {
  const { Session } = await import("../../client/session/session.js");
  const stateFolder = userStateFolder(env);
  if (stateFolder === null && !service.embedded) await refuseUncounted(settings);
  const session = new Session({
    service,
    settings,
    clock,
    stateFolder,
    onWarning: (message) => reporter.warning(message),
    ...listener,
  });
  return withResources(async (stack) => use(stack.use(session)));
}

/** @throws UsageError `quota_uncounted` if a quota is set, since it needs a folder to count in */
async function refuseUncounted(settings: SessionSettings): Promise<void> {
  if (settings.rate?.some(isQuota) !== true) return;
  const { quotaUncounted } = await import("../../client/store/quotas.js");
  throw quotaUncounted("without a state folder: neither XDG_STATE_HOME nor HOME is set");
}

interface Clients {
  readonly intel: IntelClient;
  readonly ops: OpsClient;
  readonly case: CaseClient;
}

const clientOf: { readonly [Name in ServiceName]: (session: Session) => Promise<Clients[Name]> } = {
  intel: (session) => session.intel(),
  ops: (session) => session.ops(),
  case: (session) => session.cases(),
};

/** Calls `use` with a client of the service. Its requests obey the rates and retries of the main job. */
export function askService<Name extends ServiceName, T>(
  name: Name,
  call: SessionCall & ServiceCall,
  use: (client: Clients[Name]) => Promise<T>,
): Promise<T> {
  return withServices([name], call, (services) => withClient(name, services[name], call, use));
}

/** Like `askService`, with the access that `withServices` gave. */
export function withClient<Name extends ServiceName, T>(
  name: Name,
  service: ServiceAccess,
  call: SessionCall,
  use: (client: Clients[Name]) => Promise<T>,
): Promise<T> {
  return withSession(service, call, async (session) => use(await clientOf[name](session)));
}

export interface ServiceChoice {
  readonly local: boolean;
  /** Seed of invented answers, for the embedded service only. */
  readonly synthetic?: number | undefined;
  readonly intelUrl?: string | undefined;
  readonly opsUrl?: string | undefined;
  readonly caseUrl?: string | undefined;
}

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

/** Options of commands that use the operations interface. */
export const opsCallGroups = { Service: { ...opsOptions.shape, local }, ...callGroups };

/** Options of commands that use the case management instance. */
export const caseCallGroups = { Service: { ...caseOptions.shape, local }, ...callGroups };
