import { expect, test } from "vitest";
import { dataSets, faultsOf, withSideFiles } from "../helpers/crash-outputs.js";

const all = Object.entries(dataSets);

test.each([
  ...all,
  ...all.map(([name, output]) => [`${name} with side files`, withSideFiles(output)] as const),
])("a run into %s resumes after a kill at any point", async (name, output) => {
  expect(await faultsOf(name, output)).toEqual([]);
});
