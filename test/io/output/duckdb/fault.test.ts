import { expect, it } from "vitest";
import { FatalError, UsageError } from "../../../../src/core/errors.js";
import { duckdbFault } from "../../../../src/io/output/duckdb/fault.js";

const display = "duckdb:w.duckdb?table=enriched";

it.each([
  ["IO Error: Could not write file: No space left on device", "output_disk_full"],
  ["Out of Memory Error: failed to pin block of size 1.0 MiB", "output_memory"],
  ['IO Error: Cannot open file "w.duckdb": Permission denied', "output_denied"],
  ["Serialization Error: Failed to deserialize", "output_version"],
  ['Constraint Error: Duplicate key "a" violates primary key', "output_table_differs"],
  ["Binder Error: no such thing", "output_duckdb"],
])("explains %j", (message, code) => {
  const fault = duckdbFault(display, new Error(message), "write");
  expect(fault).toMatchObject({ code, message: expect.stringContaining(display) });
  expect(fault).toBeInstanceOf(FatalError);
});

it("takes a directory for wrong usage", () => {
  const error = new Error("EISDIR: illegal operation on a directory, read");
  const fault = duckdbFault("duckdb:folder?table=t", error, "read");
  expect(fault).toMatchObject({ code: "output_is_directory" });
  expect(fault).toBeInstanceOf(UsageError);
});

it("quotes only the first line of an unknown error", () => {
  const fault = duckdbFault(
    display,
    new Error("Binder Error: what\n\nLINE 1: SELECT secret"),
    "write",
  );
  expect(fault.message).toBe(`cannot write ${display}: Binder Error: what`);
});

it("passes an explained error unchanged", () => {
  const explained = new UsageError("driver_missing", "none");
  expect(duckdbFault(display, explained, "write")).toBe(explained);
});
