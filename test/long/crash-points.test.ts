import { expect, test } from "vitest";
import { faultsOf, outputs, withSideFiles } from "../helpers/crash-outputs.js";

test.each(Object.entries(outputs))(
  "a run into %s with side files resumes after a kill at any point",
  async (name, output) => {
    expect(await faultsOf(`${name} with side files`, withSideFiles(output))).toEqual([]);
  },
);

test("a run into CSV without side files resumes after a kill at any point", async () => {
  expect(await faultsOf("CSV", outputs.CSV)).toEqual([]);
});
