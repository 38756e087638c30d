import { expect, test } from "vitest";
import { csv } from "../../../../src/formats/csv/csv.js";
import type { RejectsOptions } from "../../../../src/formats/types.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";

const options: RejectsOptions = {
  columns: ["n", "ip"],
  reading: { format: "csv", delimiter: ",", header: "record" },
  formulaGuard: true,
};

function refusal(message: string, cells: readonly string[] = ["1", "192.0.2.1"]) {
  return anEnrichedRow({ cells }, { status: "invalid", error: { code: "invalid_item", message } });
}

test("a reason that a spreadsheet would run is neutralised, an input cell never", () => {
  const encoder = csv.rejects(options);
  expect(encoder.encode([refusal("=cmd", ["=1+1", "192.0.2.1"])])).toBe(
    "=1+1,192.0.2.1,invalid_item,'=cmd\n",
  );
});

test("without the guard a reason stays as it came", () => {
  const encoder = csv.rejects({ ...options, formulaGuard: false });
  expect(encoder.encode([refusal("=cmd")])).toBe("1,192.0.2.1,invalid_item,=cmd\n");
});

test("names that the input has already are numbered", () => {
  const columns = ["n", "reject_code", "reject_reason"];
  expect(csv.rejects({ ...options, columns }).header).toBe(
    "n,reject_code,reject_reason,reject_code_2,reject_reason_2\n",
  );
});
