import { expect, test } from "vitest";
import { faultsOf, outputs, withSideFiles } from "../helpers/crash-outputs.js";

test.each(Object.entries(outputs))(
  "a run into %s with side files that is killed anywhere resumes",
  async (name, output) => {
    expect(await faultsOf(`${name} with side files`, withSideFiles(output))).toEqual([]);
  },
);
