import type { Customer } from "../../api/schema/operations.js";
import { ServiceError } from "../../api/status-fault.js";
import { FatalError } from "../../core/errors.js";
import { opsCallGroups } from "../services/call-options.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../command.js";
import { dataOutput } from "../terminal/data-output.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { askService } from "../services/with-client.js";

/** All customers (interface: Endpoints, Operations). */
export const customersCommand = defineCommand({
  name: "customers",
  usage: "[flags]",
  summary: "list the customers with their tenants",
  description: [
    "Prints every customer of the operations interface, page by page as they are read, one JSON object a line; a table on a terminal.",
    "Ends with 1 when the list cannot be read to its end, or when a page's cursor comes again; what came before is printed.",
  ],
  operands: [],
  groups: opsCallGroups,
  examples: {
    "repute customers --local": "lists the customers of the embedded service",
    "repute customers --ops-url https://ops.example --access-token-file ~/.repute/ops-token":
      "asks the operations interface",
    "repute customers --json":
      "prints JSON on a terminal too; the address comes from REPUTE_OPS_URL, the token from REPUTE_ACCESS_TOKEN",
    "repute customers | jq -r 'select(.tenant_id == \"tenant-a\").customer_id'":
      "takes the customers of one tenant",
  },
  exitCodes: callExitCodes,
  run: listCustomers,
});

async function listCustomers(call: CommandCall<SettingsOf<typeof opsCallGroups>>): Promise<number> {
  const { signal } = call.context;
  const output = dataOutput<Customer>(call, [
    ["customer", ({ customer_id }) => customer_id],
    ["tenant", ({ tenant_id }) => tenant_id ?? ""],
  ]);
  let printed = 0;
  try {
    await askService("ops", call, async (client) => {
      for await (const customer of client.customers({ signal })) {
        await output.add(customer);
        printed++;
      }
    });
  } catch (error) {
    if (printed === 0 || !(error instanceof ServiceError)) throw error;
    await output.end();
    throw new FatalError(error.code, error.message, {
      cause: error,
      hint: `what was printed (${printed} customers) may not be the whole list`,
    });
  }
  await output.end();
  return exitCodes.done;
}
