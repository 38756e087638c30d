import { expect, test } from "vitest";
import { csv } from "../../../../src/formats/csv/csv.js";
import type { RejectsOptions } from "../../../../src/formats/types.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";

const options: RejectsOptions = {
  columns: ["n", "ip"],
  reading: { format: "csv", delimiter: ",", header: "record" },
  formulaGuard: true,
  optional: {},
};

function refusal(message: string, cells: readonly string[] = ["1", "192.0.2.1"]) {
  return anEnrichedRow({ cells }, { status: "invalid", error: { code: "invalid_item", message } });
}

test("neutralises formulas in reasons, never in input cells", () => {
  const encoder = csv.rejects(options);
  expect(encoder.encode([refusal("=cmd", ["=1+1", "192.0.2.1"])])).toBe(
    "=1+1,192.0.2.1,invalid_item,'=cmd\n",
  );
});

test("numbers names that the input already has", () => {
  const columns = ["n", "reject_code", "reject_reason"];
  expect(csv.rejects({ ...options, columns }).header).toBe(
    "n,reject_code,reject_reason,reject_code_2,reject_reason_2\n",
  );
});
