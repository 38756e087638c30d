import { z } from "zod";
import { text } from "./field.js";

/** One customer (interface: Customer (operations interface)). */
export const customerSchema = z.looseObject({
  customer_id: text("Identifier of the customer (interface: Customer (operations interface))"),
  tenant_id: text(
    "Identifier of the tenant that the customer belongs to (interface: Customer (operations interface))",
  ).nullish(),
});

/** One page of `GET /beta/ops/customers` (interface: Customer (operations interface)). */
export const customersPageSchema = z.looseObject({
  items: z
    .array(customerSchema)
    .describe("Customers of this page (interface: Customer (operations interface))"),
  next_cursor: text(
    "Where the next page starts; absent, null or empty on the last page (interface: Customer (operations interface))",
  ).nullish(),
});

export type Customer = z.infer<typeof customerSchema>;
export type CustomersPage = z.infer<typeof customersPageSchema>;
