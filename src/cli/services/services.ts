import { chooseAddress } from "./choose-address.js";
import type { ServiceChoice, ServiceName } from "./choose-address.js";
import type { CommandCall } from "../command.js";
import { readSecret, secrets } from "../options/secrets.js";

/** What stands for the embedded service's address, which is another one each time. */
export const embeddedServiceName = "the embedded service";

/** A service that a command may ask. */
export interface ServiceAccess {
  readonly url: string;
  /** Whether it is the embedded service, started for this command. */
  readonly embedded: boolean;
  /** What goes to this address, and to no other; null to send none. */
  readonly credential: string | null;
}

/** The part of a call that says which services are asked, and as whom. */
export type ServiceCall = Pick<CommandCall<ServiceChoice>, "settings" | "given" | "context">;

/**
 * Gives `use` the services of these names. Where one of them is the embedded service, that
 * runs meanwhile on a free port of the loopback interface. It takes the credential whose file
 * a flag names, else one of its own: a variable or configuration may be meant for a real service.
 *
 * @throws UsageError when an address or a credential is missing, before anything is started
 */
export async function withServices<Name extends ServiceName, T>(
  names: readonly Name[],
  { settings, given, context }: ServiceCall,
  use: (services: Readonly<Record<Name, ServiceAccess>>) => Promise<T>,
): Promise<T> {
  const chosen = new Map<Name, ServiceAccess | null>();
  const own: EmbeddedCredentials = {};
  for (const name of names) {
    const url = chooseAddress(name, settings, given);
    const secret = secrets[name];
    const named = given.get(secret.fileKey)?.level === "flag";
    const credential = url === null && !named ? null : await readSecret(secret, given, context);
    if (url === null) own[name] = credential;
    chosen.set(name, url === null ? null : { url, credential, embedded: false });
  }
  const embedded = [...chosen.values()].includes(null) ? await startEmbedded(own) : null;
  try {
    const services = [...chosen].map(([name, access]) => [name, access ?? embedded?.access[name]]);
    return await use(Object.fromEntries(services) as Record<Name, ServiceAccess>);
  } finally {
    await embedded?.close();
  }
}

/** Credentials that the embedded service is to take in place of its own. */
type EmbeddedCredentials = Partial<Record<ServiceName, string | null>>;

async function startEmbedded({ intel, ops, case: caseKey }: EmbeddedCredentials) {
  const { startService, sampleAccessToken, sampleCaseApiKey } =
    await import("../../service/service.js");
  const apiKey = intel ?? undefined;
  const accessToken = ops ?? sampleAccessToken;
  const caseApiKey = caseKey ?? sampleCaseApiKey;
  const service = await startService({ apiKey, accessToken, caseApiKey });
  const { intelUrl, opsUrl, caseUrl } = service;
  const access: Readonly<Record<ServiceName, ServiceAccess>> = {
    intel: { url: intelUrl, embedded: true, credential: apiKey ?? null },
    ops: { url: opsUrl, embedded: true, credential: accessToken },
    case: { url: caseUrl, embedded: true, credential: caseApiKey },
  };
  return { access, close: () => service.close() };
}
