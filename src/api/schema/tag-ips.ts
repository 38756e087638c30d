import { z } from "zod";
import { text } from "./field.js";
import { snapshotLength } from "./vocabulary.js";

/** Result of `/tags/{name}/ips`: one page of the list (interface: Tag IP list). */
export const tagIpsSchema = z.looseObject({
  tag: text("The tag name (interface: Tag IP list)"),
  entries: z.array(z.string()).describe("IP addresses of this page (interface: Tag IP list)"),
  lastUpdate: text("Time of the last update of the data (interface: Tag IP list)"),
  total: z
    .number()
    .nonnegative()
    .describe("Entries in the whole list, over all pages (interface: Tag IP list)"),
  snapshot: z
    .string()
    .length(snapshotLength)
    .describe(
      "Token of exactly 24 characters that fixes the dataset for later pages (interface: Tag IP list)",
    ),
});

export type TagIps = z.infer<typeof tagIpsSchema>;
