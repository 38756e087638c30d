import { expect, test } from "vitest";
import { dataSets, faultsOf } from "../helpers/crash-outputs.js";

test.each(Object.entries(dataSets))(
  "a run into %s resumes after a kill at any point",
  async (name, output) => {
    expect(await faultsOf(name, output)).toEqual([]);
  },
);
