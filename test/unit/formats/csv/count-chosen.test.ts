import { expect, test } from "vitest";
import { countCsv } from "../../../../src/formats/csv/csv-writer.js";

test("counts statuses and verdicts wherever these columns are", () => {
  const count = (text: string) => {
    const counter = countCsv(",", { inputColumns: 1, prefix: "rep_", shape: "flat" });
    for (const line of text.split(/(?<=\n)/)) counter.add(Buffer.from(line));
    return counter.counted();
  };
  const last = count("ip,rep_tags,rep_verdict,rep_status\n192.0.2.1,,malicious,complete\n");
  expect(last).toMatchObject({ rows: 1, verdicts: { malicious: 1 }, statuses: { complete: 1 } });
  expect(count("ip,rep_status\n192.0.2.1,failed\n")).toMatchObject({ rows: 1, verdicts: null });
});
