import { expect, test } from "vitest";
import { dated, faultsOf, outputs } from "../../../helpers/crash-outputs.js";

test.each([
  ["CSV with side files", outputs["CSV with side files"]],
  ["Parquet", outputs.Parquet],
  ["dated CSV", dated("CSV")],
])(
  "a run into %s that takes over answers resumes after a kill at any point",
  async (name, output) => {
    expect(await faultsOf(name, { ...output, takesOver: true })).toEqual([]);
  },
);
