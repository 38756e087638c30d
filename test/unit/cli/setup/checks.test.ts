import { describe, expect, test } from "vitest";
import { diskCheck } from "../../../../src/cli/setup/check-machine.js";
import { certificateCheck, clockCheck } from "../../../../src/cli/setup/check-service.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const now = Date.parse("2026-01-01T00:00:00Z");

describe("free space", () => {
  test.each([
    [2e9, "ok"],
    [999e6, "warn"],
    [49e6, "fail"],
  ])("of %d bytes is %s", async (free, status) => {
    const folder = await temporaryFolder();
    expect((await diskCheck("cache folder", folder, async () => free)).status).toBe(status);
  });

  test("is measured on the parent of a missing folder", async () => {
    const folder = await temporaryFolder();
    const asked: string[] = [];
    await diskCheck("cache folder", `${folder}/a/b`, async (path) => asked.push(path));
    expect(asked).toEqual([folder]);
  });
});

test.each([
  [now + 30_000, "ok", "agrees with the service"],
  [now + 300_000, "warn", "5 min behind the service"],
  [now - 600_000, "warn", "10 min ahead of the service"],
])("a clock, with the service at %d, is %s", (servedMs, status, finding) => {
  expect(clockCheck(servedMs, now)).toMatchObject({ status, finding });
});

test.each([
  ["Mar  1 00:00:00 2026 GMT", "ok", "valid until 2026-03-01, 59 days left"],
  ["Jan 11 12:00:00 2026 GMT", "warn", "valid until 2026-01-11, 10 days left"],
])("a certificate until %s is %s", (validTo, status, finding) => {
  expect(certificateCheck(validTo, now)).toMatchObject({ status, finding });
});
