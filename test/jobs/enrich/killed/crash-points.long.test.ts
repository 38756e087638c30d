import { expect, test } from "vitest";
import { dated, faultsOf, outputs } from "../../../helpers/crash-outputs.js";

test.each([
  ...Object.entries(outputs),
  ["dated Parquet", dated("Parquet", { publishing: true })] as const,
])("a run into %s resumes after a kill at any point", async (name, output) => {
  expect(await faultsOf(name, output)).toEqual([]);
});
