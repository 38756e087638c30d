import { expect, test } from "vitest";
import { dataSets, faultsOf, withSideFiles } from "../helpers/crash-outputs.js";

test.each(Object.entries(dataSets))(
  "a run into %s with side files resumes after a kill at any point",
  async (name, output) => {
    expect(await faultsOf(`${name} with side files`, withSideFiles(output))).toEqual([]);
  },
);
