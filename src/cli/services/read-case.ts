import type { CaseContext } from "../../api/schema/case-context.js";
import type { RepShareCase } from "../../api/schema/rep-share-case.js";
import type { ServiceAccess } from "./services.js";
import { withCaseClient, withOpsClient } from "./with-client.js";
import type { RequestCall } from "./with-client.js";

/**
 * Reads one reputation-share case from the operations interface. Warns when the answer is another
 * case: an identifier may have several spellings, so that this is no error.
 */
export async function readCase(
  call: RequestCall,
  ops: ServiceAccess,
  id: string,
): Promise<RepShareCase> {
  const { signal, reporter } = call.context;
  const found = await withOpsClient(ops, call, (client) => client.repShareCase(id, { signal }));
  if (found.id.toLowerCase() !== id.trim().toLowerCase()) {
    const [asked, answered] = [id, found.id].map((name) => JSON.stringify(name));
    reporter.warning(`asked for case ${asked}, the service answered with case ${answered}`);
  }
  return found;
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
