import { expect, it } from "vitest";
import { FatalError, UsageError } from "../../../../src/core/errors.js";
import { duckdbFault } from "../../../../src/io/output/duckdb/database.js";

const display = "duckdb:w.duckdb?table=enriched";

it.each([
  ["IO Error: Could not write file: No space left on device", "output_disk_full"],
  ["Out of Memory Error: failed to pin block of size 1.0 MiB", "output_memory"],
  ['IO Error: Cannot open file "w.duckdb": Permission denied', "output_duckdb"],
  ['Constraint Error: Duplicate key "a" violates primary key', "output_table_differs"],
  ["EISDIR: illegal operation on a directory, read", "output_is_directory", UsageError],
  ["Binder Error: what\n\nLINE 1: SELECT secret", "output_duckdb"],
])("explains %j", (said, code, Kind: typeof FatalError | typeof UsageError = FatalError) => {
  const fault = duckdbFault(display, new Error(said), "write");
  expect(fault).toMatchObject({
    code,
    message: expect.stringContaining(`cannot write ${display}`),
  });
  expect(fault.message).not.toContain("secret");
  expect(fault).toBeInstanceOf(Kind);
  expect(duckdbFault(display, fault, "read")).toBe(fault);
});
