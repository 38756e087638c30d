import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { settingsFromFile } from "../../../../src/cli/options/config-file.js";
import { cliOptions, optionSpecs } from "../../../../src/cli/options/option-spec.js";
import { enrichOptions } from "../../../../src/pipeline/options.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const specs = [...optionSpecs(enrichOptions), ...optionSpecs(cliOptions)];

async function read(text: string) {
  const path = join(await temporaryFolder(), "repute.json");
  await writeFile(path, text);
  return settingsFromFile(path, specs);
}

test("reads keys in kebab case and in camel case", async () => {
  const given = await read('{"item-column": "ioc", "partialRetries": 1}');
  expect([given.get("itemColumn")?.value, given.get("partialRetries")?.value]).toEqual(["ioc", 1]);
});

test("names the key as it is written, and the file", async () => {
  const given = await read('{"item-column": "ioc"}');
  expect(given.get("itemColumn")?.name).toMatch(/^"item-column" in .*repute\.json$/);
});

test("reads a file with a byte order mark", async () => {
  expect((await read('\uFEFF{"retries": 1}')).get("retries")?.value).toBe(1);
});

test("lets an editor's $schema pass", async () => {
  expect((await read('{"$schema": "https://schema.example/repute.json"}')).size).toBe(0);
});

test("refuses an unknown key and proposes the right one", async () => {
  await expect(read('{"item-colum": "ioc"}')).rejects.toMatchObject({
    code: "unknown_config_key",
    hint: 'did you mean "item-column"?',
  });
});

test("refuses the same setting in both spellings", async () => {
  await expect(read('{"item-column": "a", "itemColumn": "b"}')).rejects.toMatchObject({
    code: "config_key_twice",
  });
});

test("refuses a file that names another", async () => {
  await expect(read('{"config": "other.json"}')).rejects.toMatchObject({
    hint: "one file cannot name another",
  });
});

test("refuses a secret and does not show it", async () => {
  const error: unknown = await read('{"api-key": "k-123"}').catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "secret_in_config" });
  expect(JSON.stringify(error) + String(error)).not.toContain("k-123");
});

test("tells line and column of a slip in the JSON where they are known", async () => {
  await expect(read('{\n  "retries": 1,\n  "rate": "5/s",\n}')).rejects.toThrow(
    /repute\.json, line 4, column 1, is not valid JSON$/,
  );
});

test("refuses JSON that is no object", async () => {
  await expect(read("[1]")).rejects.toMatchObject({ code: "config_not_object" });
});

test("names a file that is not there", async () => {
  await expect(settingsFromFile("no-such-file.json", specs)).rejects.toThrow(
    "cannot read the configuration no-such-file.json: there is no such file",
  );
});
