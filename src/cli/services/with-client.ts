import type { CaseClient } from "../../api/case-client.js";
import type { IntelClient } from "../../api/intel-client.js";
import type { OpsClient } from "../../api/ops-client.js";
import type { ServiceName } from "../../api/service-description.js";
import type { Session } from "../../session/session.js";
import { type ServiceCall, type SessionCall, withServices, withSession } from "./services.js";
import type { ServiceAccess } from "../../session/types.js";

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

/** Calls `use` with a client of the service. */
export function askService<Name extends ServiceName, T>(
  name: Name,
  call: SessionCall & ServiceCall,
  use: (client: Clients[Name]) => Promise<T>,
): Promise<T> {
  return withServices([name], call, (services) => withClient(name, services[name], call, use));
}

/**
 * Calls `use` with a client of a service and closes its connections afterwards. Requests obey the
 * same rate limits and retries as the main job.
 */
export function withClient<Name extends ServiceName, T>(
  name: Name,
  service: ServiceAccess,
  call: SessionCall,
  use: (client: Clients[Name]) => Promise<T>,
): Promise<T> {
  return withSession(service, call, async (session) => use(await clientOf[name](session)));
}
