import { expect, it } from "vitest";
import type { Publication } from "../../../src/outputs/publication.js";
import { type FindWarehouse, findWarehouse, warehouses } from "../../../src/outputs/registry.js";
import { linesEncoder } from "../../../src/formats/lines-encoder.js";

const opened: string[] = [];

const publication: Publication = {
  encoder: linesEncoder(() => ""),
  columns: [],
  takesParts: false,
  prepare: () => Promise.resolve(null),
  commit: () => Promise.resolve(),
};

/** Everything another warehouse needs. */
const memory: FindWarehouse = (output) => {
  const name = /^memory:(\w+)$/.exec(output)?.[1];
  if (name === undefined) return null;
  return {
    target: { kind: "memory", file: null, display: output, base: output },
    open({ runId }) {
      opened.push(`${name} for ${runId}`);
      return Promise.resolve(publication);
    },
    rows: null,
  };
};

it("accepts another kind of warehouse as one entry", async () => {
  const found = findWarehouse("memory:intel", [...warehouses, memory]);
  const options = { columns: ["ip"], prefix: "rep_", stateFolder: ".", base: "." };
  expect(await found!.open({ ...options, runId: "a run" })).toBe(publication);
  expect(opened).toEqual(["intel for a run"]);
});
