import { chooseAddress } from "./choose-address.js";
import type { ServiceChoice, ServiceName } from "./choose-address.js";
import type { CommandCall } from "./command.js";
import { readSecret, secrets } from "./secrets.js";

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
type ServiceCall = Pick<CommandCall<ServiceChoice>, "settings" | "loaded" | "context">;

/**
 * Gives `use` the services of these names. Where one of them is the embedded service, that is
 * started for so long on a free port of the loopback interface; it takes credentials of its own.
 *
 * @throws UsageError when an address or a credential cannot be had, before anything is started
 */
export async function withServices<Name extends ServiceName, T>(
  names: readonly Name[],
  { settings, loaded: { given }, context }: ServiceCall,
  use: (services: Readonly<Record<Name, ServiceAccess>>) => Promise<T>,
): Promise<T> {
  const chosen = new Map<Name, ServiceAccess | null>();
  for (const name of names) {
    const url = chooseAddress(name, settings, given);
    const credential = url === null ? null : await readSecret(secrets[name], given, context);
    chosen.set(name, url === null ? null : { url, credential, embedded: false });
  }
  const embedded = [...chosen.values()].includes(null) ? await startEmbedded() : null;
  try {
    const services = [...chosen].map(([name, access]) => [name, access ?? embedded?.access[name]]);
    return await use(Object.fromEntries(services) as Record<Name, ServiceAccess>);
  } finally {
    await embedded?.close();
  }
}

async function startEmbedded() {
  const { startService, sampleAccessToken, sampleCaseApiKey } =
    await import("../service/service.js");
  const service = await startService();
  const { intelUrl, opsUrl, caseUrl } = service;
  const access: Readonly<Record<ServiceName, ServiceAccess>> = {
    intel: { url: intelUrl, embedded: true, credential: null },
    ops: { url: opsUrl, embedded: true, credential: sampleAccessToken },
    case: { url: caseUrl, embedded: true, credential: sampleCaseApiKey },
  };
  return { access, close: () => service.close() };
}
