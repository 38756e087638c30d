import { columns, schemaVersion } from "../core/columns.js";
import { UsageError } from "../core/errors.js";

/**
 * The error for an output of an earlier schema version. Its rows are copied, and an output must not
 * mix rows with and without a column.
 */
export function olderSchema(path: string, prefix: string, version: number): UsageError {
  const missing = columns.filter(({ since }) => since > version).map(({ name }) => prefix + name);
  return new UsageError(
    "retry_older_schema",
    `${path} has schema version ${version}, which lacks ${missing.join(", ")}; retry writes version ${schemaVersion}`,
    {
      hint: "run enrich on the input again; a --cache DIR filled by the earlier run answers the items it knows",
    },
  );
}
