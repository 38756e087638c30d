import type { OpsClient } from "../../api/ops-client.js";
import type { RepShareCase } from "../../api/schema/operations.js";
import type { CliContext } from "../terminal/cli-context.js";

/**
 * Reads one reputation-share case from the operations interface. A different identifier in the answer is
 * only a warning, since an identifier may have several spellings.
 */
export async function readCase(
  client: OpsClient,
  id: string,
  { signal, reporter }: CliContext,
): Promise<RepShareCase> {
  const found = await client.repShareCase(id, { signal });
  if (found.id.toLowerCase() !== id.trim().toLowerCase()) {
    const [asked, answered] = [id, found.id].map((name) => JSON.stringify(name));
    reporter.warning(`asked for case ${asked}, the service answered with case ${answered}`);
  }
  return found;
}
