import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { jsonFileFault, readJsonFile, replaceFile } from "../../../../src/core/files/json-file.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

test("a file that cannot be replaced leaves nothing beside it", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "m.prom"));
  await expect(replaceFile(join(folder, "m.prom"), "text", 0o644)).rejects.toThrow("EISDIR");
  expect(await readdir(folder)).toEqual(["m.prom"]);
});

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
