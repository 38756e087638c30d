import type { CaseContext } from "../api/schema/case-context.js";
import type { RepShareCase } from "../api/schema/rep-share-case.js";
import type { ServiceAccess } from "./services.js";
import { withCaseClient, withOpsClient } from "./with-client.js";
import type { RequestCall } from "./with-client.js";

/** Reads one reputation-share case from the operations interface. */
export function readCase(call: RequestCall, ops: ServiceAccess, id: string): Promise<RepShareCase> {
  const { signal } = call.context;
  return withOpsClient(ops, call, (client) => client.repShareCase(id, { signal }));
}

/** Reads the context of a case from the case management instance. */
export function readCaseContext(
  call: RequestCall,
  instance: ServiceAccess,
  id: string,
): Promise<CaseContext> {
  const { signal } = call.context;
  return withCaseClient(instance, call, (client) => client.context(id, { signal }));
}
