import type { Customer } from "../../client/api/calls.js";
import { ServiceError } from "../../client/api/status-fault.js";
import { FatalError } from "../../core/errors.js";
import { opsCallGroups, askService } from "../services/services.js";
import { type CommandCall, defineCommand, type SettingsOf, quotaCode } from "../command.js";
import { printRecords } from "../terminal/data-output.js";

export const customersCommand = defineCommand({
  name: "customers",
  summary: "list customers and their tenants",
  description: [
    "Prints every customer of the operations interface, one JSON object per line, page by page. On a terminal it prints a table.",
    "Exits with 1 if the list cannot be read to its end or a page cursor repeats. Customers read so far are printed.",
  ],
  groups: opsCallGroups,
  examples: {
    "repute customers --local": "list the customers of the embedded service",
    "repute customers --ops-url https://ops.example --access-token-file ~/.repute/ops-token":
      "query the operations interface",
  },
  exitCodes: quotaCode,
  run: listCustomers,
});

async function listCustomers(call: CommandCall<SettingsOf<typeof opsCallGroups>>): Promise<void> {
  const { signal } = call.context;
  let printed = 0;
  async function* counted(customers: AsyncIterable<Customer>) {
    for await (const customer of customers) {
      yield customer;
      printed++;
    }
  }
  try {
    await askService("ops", call, (client) =>
      printRecords<Customer>(call, counted(client.customers({ signal })), [
        ["customer", ({ customer_id }) => customer_id],
        ["tenant", ({ tenant_id }) => tenant_id ?? ""],
      ]),
    );
  } catch (error) {
    if (printed === 0 || !(error instanceof ServiceError)) throw error;
    throw new FatalError(error.code, error.message, {
      cause: error,
      hint: `the printed list (${printed} customers) may be incomplete`,
    });
  }
}
