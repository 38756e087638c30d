import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  jsonFileFault,
  openSealedJson,
  readJsonFile,
  sealJson,
} from "../../../src/core/files/json-file.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

describe("why a JSON file cannot be read", () => {
  test.each([
    ["half.json", "it is not valid JSON"],
    [".", "it is a directory"],
  ])("%s: %s", async (name, reason) => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "half.json"), '{"a":');
    const fault = await readJsonFile(join(folder, name)).catch(jsonFileFault);
    expect(fault).toBe(reason);
  });
});

const value = {
  text: 'a "quoted" ünïcode\u2028 \ud800',
  list: [1, { two: null }],
  checksum2: true,
};

test("opens what it sealed, with or without a final line break", () => {
  const text = sealJson(value);
  expect(openSealedJson(text)).toEqual(value);
  expect(openSealedJson(`${text}\n`)).toEqual(value);
  expect(JSON.parse(text)).toMatchObject(value);
});

test("rejects JSON that was changed, cut off or never sealed", () => {
  const text = sealJson(value);
  for (const [from, to] of [
    ["1", "2"],
    ["null", "nul1"],
    ['"checksum":"', '"checksum":"f'],
  ] as const) {
    expect(openSealedJson(text.replace(from, to))).toBeNull();
  }
  for (let length = 0; length < text.length; length++) {
    expect(openSealedJson(text.slice(0, length))).toBeNull();
  }
  expect(openSealedJson(`${text}x`)).toBeNull();
  expect(openSealedJson(JSON.stringify(value))).toBeNull();
});
