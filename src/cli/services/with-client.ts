import type { CaseClient } from "../../api/case-client.js";
import type { ClientOptions } from "../../api/caller.js";
import type { IntelClient } from "../../api/intel-client.js";
import type { OpsClient } from "../../api/ops-client.js";
import type { ServiceName } from "../../api/service-description.js";
import type { CallPolicy } from "../../api/types.js";
import { withResources } from "../../core/resource-stack.js";
import type { RequestSettings } from "./call-options.js";
import type { CommandCall } from "../command.js";
import { openPace, type ServiceAccess, type ServiceCall, withServices } from "./services.js";

/** The part of a call that says how to send requests. */
export type RequestCall = Pick<CommandCall<RequestSettings>, "settings" | "context">;

interface Clients {
  readonly intel: IntelClient;
  readonly ops: OpsClient;
  readonly case: CaseClient;
}

type ClientMakers = {
  readonly [Name in ServiceName]: (options: ClientOptions, key?: string) => Promise<Clients[Name]>;
};

const makers: ClientMakers = {
  intel: async (options, apiKey) => {
    const { IntelClient } = await import("../../api/intel-client.js");
    return new IntelClient({ ...options, apiKey });
  },
  ops: async (options, accessToken) => {
    const { OpsClient } = await import("../../api/ops-client.js");
    return new OpsClient({ ...options, accessToken });
  },
  case: async (options, apiKey) => {
    const { CaseClient } = await import("../../api/case-client.js");
    return new CaseClient({ ...options, apiKey });
  },
};

/** Calls `use` with a client of the service. */
export function askService<Name extends ServiceName, T>(
  name: Name,
  call: RequestCall & ServiceCall,
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
  call: RequestCall,
  use: (client: Clients[Name]) => Promise<T>,
): Promise<T> {
  const { url, credential } = service;
  const {
    settings,
    context: { clock },
  } = call;
  return withResources(async (stack) => {
    const stop = new AbortController();
    const [{ createDispatcher }, { retryCalls }, pace] = await Promise.all([
      import("../../api/http/dispatcher.js"),
      import("../../lookup/attempt/call-policy.js"),
      openPace(service, call, (error) => stop.abort(error)),
    ]);
    const dispatcher = createDispatcher(url, { connections: 1 });
    stack.defer(() => dispatcher.destroy());
    stack.defer(() => pace.giveBack());
    const policy = retryCalls({ pace: pace.run, retries: settings.retries, clock });
    // A used-up quota aborts the call that waits for it.
    const send: CallPolicy = (attempt, { signal }) =>
      policy(attempt, { signal: AbortSignal.any([signal, stop.signal]) });
    const options = { baseUrl: url, dispatcher, clock, timeoutMs: settings.timeout, send };
    return use(await makers[name](options, credential ?? undefined));
  });
}
