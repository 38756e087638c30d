import type { CaseClient } from "../../api/case-client.js";
import type { ClientOptions } from "../../api/caller.js";
import type { IntelClient } from "../../api/intel-client.js";
import type { OpsClient } from "../../api/ops-client.js";
import type { CallPolicy } from "../../api/types.js";
import { isQuota } from "../../core/options.js";
import { withResources } from "../../core/resource-stack.js";
import type { CallSettings } from "./call-options.js";
import type { CommandCall } from "../command.js";
import { openPace } from "./pace.js";
import type { ServiceAccess } from "./services.js";

/** The part of a command's call that says how requests are made. */
export type RequestCall = Pick<
  CommandCall<Pick<CallSettings, "rate" | "retries" | "timeout">>,
  "settings" | "context"
>;

/** Gives `use` a client of the threat intelligence interface, and closes its connections afterwards. */
export async function withIntelClient<T>(
  service: ServiceAccess,
  call: RequestCall,
  use: (client: IntelClient) => Promise<T>,
): Promise<T> {
  const { IntelClient } = await import("../../api/intel-client.js");
  return withConnection(service, call, (options, key) =>
    use(new IntelClient({ ...options, apiKey: key })),
  );
}

/** The same with a client of the operations interface. */
export async function withOpsClient<T>(
  service: ServiceAccess,
  call: RequestCall,
  use: (client: OpsClient) => Promise<T>,
): Promise<T> {
  const { OpsClient } = await import("../../api/ops-client.js");
  return withConnection(service, call, (options, key) =>
    use(new OpsClient({ ...options, accessToken: key })),
  );
}

/** The same with a client of the case management instance. */
export async function withCaseClient<T>(
  service: ServiceAccess,
  call: RequestCall,
  use: (client: CaseClient) => Promise<T>,
): Promise<T> {
  const { CaseClient } = await import("../../api/case-client.js");
  return withConnection(service, call, (options, key) =>
    use(new CaseClient({ ...options, apiKey: key })),
  );
}

/** Calls are paced and tried again as those of the main job are. */
function withConnection<T>(
  service: ServiceAccess,
  call: RequestCall,
  use: (options: ClientOptions, key: string | undefined) => Promise<T>,
): Promise<T> {
  const { url, credential } = service;
  const { settings, context } = call;
  const { clock } = context;
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
    const policy = retryCalls({ pace, retries: settings.retries, clock });
    // A quota that is used up ends the call that waits for it.
    const endable: CallPolicy = (attempt, { signal }) =>
      policy(attempt, { signal: AbortSignal.any([signal, stop.signal]) });
    const send = settings.rate?.some(isQuota) === true ? endable : policy;
    const options = { baseUrl: url, dispatcher, clock, timeoutMs: settings.timeout, send };
    return use(options, credential ?? undefined);
  });
}
