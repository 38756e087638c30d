import { expect, test } from "vitest";
import {
  dated,
  faultsOf,
  outputs,
  whilePublishing,
  withSideFiles,
} from "../helpers/crash-outputs.js";

// Beside an output that is staged, and one that is not.
const beside = [
  ["CSV with side files", withSideFiles(outputs["CSV"]!)],
  ["Parquet with side files", whilePublishing(withSideFiles(outputs["Parquet"]!))],
] as const;

test.each([...Object.entries(outputs), ...Object.entries(dated), ...beside])(
  "a run into %s resumes after a kill at any point",
  async (name, output) => {
    expect(await faultsOf(name, output)).toEqual([]);
  },
);
