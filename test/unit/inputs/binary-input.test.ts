import { describe, expect, it, test } from "vitest";
import { openInput } from "../../../src/inputs/open-input.js";
import { piped } from "../../contract/sources-reading.js";

describe("an input that is not text", () => {
  it.each([
    ["PK\x03\x04\x14", "an Excel workbook"],
    ["%PDF-1.7\n", "a PDF document"],
    ["PAR1\x15\x00", "a Parquet file"],
    ["\xd0\xcf\x11\xe0\xa1", "an Excel workbook"],
  ])("%j is rejected and named", async (start, kind) => {
    const bytes = Buffer.from(start, "latin1");
    await expect(openInput(piped(bytes), { gzip: false, offset: 0 })).rejects.toMatchObject({
      code: "input_binary",
      message: expect.stringContaining(kind) as string,
    });
  });
});

test("text that starts like a signature is accepted", async () => {
  const input = await openInput(piped("PKI,note\n"), { gzip: false, offset: 0 });
  await input.close();
  expect(input.start).toBe(0);
});
