import type { Customer } from "../../client/api/calls.js";
import { opsCallGroups, withSession } from "../sessions.js";
import { defineCommand, quotaCode } from "../command.js";
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
  run: (call) =>
    withSession("ops", call, async (session) =>
      printRecords<Customer>(
        call,
        (await session.ops()).customers({ signal: call.context.signal }),
        [
          ["customer", ({ customer_id }) => customer_id],
          ["tenant", ({ tenant_id }) => tenant_id ?? ""],
        ],
      ),
    ),
});
