import { expect, test } from "vitest";
import { faultsOf, retries } from "../../helpers/crash-outputs.js";

test.each(Object.entries(retries))(
  "a retry of %s resumes after a kill at any point",
  async (name, output) => {
    expect(await faultsOf(`retry of ${name}`, output)).toEqual([]);
  },
);
