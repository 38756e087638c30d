import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEndpointKeys } from "../../../../src/cli/options/endpoint-keys.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { fakeContext } from "../fake-context.js";

async function keysFile(text: string, mode = 0o600): Promise<string> {
  const path = join(await temporaryFolder(), "keys.json");
  await writeFile(path, text, { mode });
  return path;
}

test("trims keys and keeps their origins", async () => {
  const path = await keysFile('{"https://crm.example": " k-1\\n"}');
  expect(await readEndpointKeys(path, fakeContext())).toEqual([
    { origin: "https://crm.example", key: "k-1" },
  ]);
});

test("rejects a key with invalid characters and names its origin, not the key", async () => {
  const path = await keysFile('{"https://crm.example": "first\\nsecond"}');
  const error: unknown = await readEndpointKeys(path, fakeContext()).catch(
    (error: unknown) => error,
  );
  expect(error).toMatchObject({
    code: "secret_malformed",
    message: `${path} contains no valid API key for https://crm.example: it contains a space, a line break or another character that is not allowed in an HTTP header`,
  });
});
