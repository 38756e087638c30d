import type { z } from "zod";
import type { Customer } from "../../api/schema/customers.js";
import { ServiceError } from "../../api/service-error.js";
import { FatalError } from "../../core/errors.js";
import { callGroups, opsCallOptions } from "../services/call-options.js";
import { defineCommand } from "../command.js";
import type { CommandCall } from "../command.js";
import { dataTable, jsonLines, wantsLines } from "../terminal/data-output.js";
import type { DataColumns } from "../terminal/data-output.js";
import { callExitCodes, exitCodes } from "../exit-code.js";
import { noOperands } from "../options/operands.js";
import { withServices } from "../services/services.js";
import { withOpsClient } from "../services/with-client.js";

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
  options: opsCallOptions,
  groups: [callGroups.ops, callGroups.requests, callGroups.run],
  examples: [
    { command: "repute customers --local", what: "lists the customers of the embedded service" },
    {
      command:
        "repute customers --ops-url https://ops.example --access-token-file ~/.repute/ops-token",
      what: "asks the operations interface",
    },
    {
      command: "repute customers --json",
      what: "prints JSON on a terminal too; the address comes from REPUTE_OPS_URL, the token from REPUTE_ACCESS_TOKEN",
    },
    {
      command: "repute customers | jq -r 'select(.tenant_id == \"tenant-a\").customer_id'",
      what: "takes the customers of one tenant",
    },
  ],
  exitCodes: callExitCodes,
  run: listCustomers,
});

async function listCustomers(call: CommandCall<z.output<typeof opsCallOptions>>): Promise<number> {
  const { settings, context } = call;
  noOperands("customers", call.operands);
  const output = wantsLines(settings.json, context)
    ? jsonLines<Customer>(context, (customer) => JSON.stringify(customer))
    : dataTable(context, columns);
  let printed = 0;
  try {
    await withServices(["ops"], call, ({ ops }) =>
      withOpsClient(ops, call, async (client) => {
        const { signal } = context;
        for await (const customer of client.customers({ signal })) {
          await output.add(customer);
          printed++;
        }
      }),
    );
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

const columns: DataColumns<Customer> = [
  ["customer", ({ customer_id }) => customer_id],
  ["tenant", ({ tenant_id }) => tenant_id ?? ""],
];
