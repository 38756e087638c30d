import { expect, test } from "vitest";
import {
  dataSets,
  dated,
  duckdb,
  faultsOf,
  outputs,
  withSideFiles,
} from "../helpers/crash-outputs.js";

test.each([
  ["CSV with side files", withSideFiles(outputs["CSV"]!)],
  ["Parquet", outputs["Parquet"]!],
  ["a data set of NDJSON.gz", dataSets["a data set of NDJSON.gz"]!],
  ["a DuckDB table", duckdb],
  ["dated CSV", dated["dated CSV"]!],
])(
  "a run into %s that takes over answers resumes after a kill at any point",
  async (name, output) => {
    expect(await faultsOf(name, { ...output, takesOver: true })).toEqual([]);
  },
);
