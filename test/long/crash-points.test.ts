import { expect, test } from "vitest";
import { faultsOf, outputs } from "../helpers/crash-outputs.js";

test.each(Object.entries(outputs))(
  "a run into %s resumes after a kill at any point",
  async (name, output) => {
    expect(await faultsOf(name, output)).toEqual([]);
  },
);
