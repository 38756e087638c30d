import { expect, test } from "vitest";
import { countedRows } from "../../../../src/cli/commands/runs/summary.js";
import { failOn } from "../../../../src/jobs/enrich/failure-limits.js";
import type { Manifest } from "../../../../src/core/manifest.js";

type Facts = Partial<Pick<Manifest, "errors" | "unsupported">> & {
  readonly format?: string;
  readonly statuses: Partial<Manifest["statuses"]>;
  readonly columns?: string[];
  readonly prefix?: string;
};

function line(
  level: string,
  { format = "csv", columns, prefix = "rep_", ...facts }: Facts,
): string {
  const statuses = { complete: 0, partial: 0, invalid: 0, unsupported: 0, failed: 0 };
  const manifest = {
    input: { rows: 1_200 },
    output: { path: "out.csv", format, rows: 1_200 },
    errors: {},
    unsupported: {},
    exit_code: 3,
    ...facts,
    statuses: { ...statuses, ...facts.statuses },
  } as unknown as Manifest;
  return countedRows(manifest, { failOn: failOn().parse(level), prefix, columns });
}

test("names the rows, the commonest code and the command that retries them", () => {
  const errors = { timeout: 200, http_500: 1_000, invalid_item: 5_000 };
  expect(line("failed", { statuses: { failed: 1_200, invalid: 5_000 }, errors })).toBe(
    "1,200 failed of 1,200 rows, most often http_500 (1,000); to retry the failed rows: repute retry out.csv",
  );
});

test.each([
  [{ format: "es-bulk" }, "; rep_error in the output says why"],
  [{ columns: ["item", "status", "error"], prefix: "x_" }, "; x_error in the output says why"],
  [{ columns: ["item", "status"] }, ""],
])("says where the reason is if the file cannot be retried: %j", (own, why) => {
  const facts = { statuses: { failed: 3 }, errors: { timeout: 3 }, ...own };
  expect(line("failed", facts)).toBe(`3 failed of 1,200 rows, most often timeout (3)${why}`);
});

test("counts every status that --fail-on names", () => {
  const facts = {
    statuses: { partial: 4, invalid: 2, unsupported: 9 },
    errors: { invalid_item: 2 },
    unsupported: { md5: 9 },
  };
  expect(line("unsupported", facts)).toBe(
    "4 partial, 2 invalid, 9 unsupported of 1,200 rows, most often md5 (9); rep_error in the output says why",
  );
  expect(line("partial", facts)).toBe("4 partial of 1,200 rows; rep_error in the output says why");
});
