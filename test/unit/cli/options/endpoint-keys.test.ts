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

test("keys come with their origins, without white space around them", async () => {
  const path = await keysFile('{"https://crm.example": " k-1\\n"}');
  expect(await readEndpointKeys(path, fakeContext())).toEqual([
    { origin: "https://crm.example", key: "k-1" },
  ]);
});

test("a key that no header can carry is refused by its origin and not shown", async () => {
  const path = await keysFile('{"https://crm.example": "first\\nsecond"}');
  const error: unknown = await readEndpointKeys(path, fakeContext()).catch(
    (error: unknown) => error,
  );
  expect(error).toMatchObject({
    code: "secret_malformed",
    message: `${path} contains no valid API key for https://crm.example: it contains a line break`,
  });
});

test("a file without an end is refused", async () => {
  await expect(readEndpointKeys("/dev/zero", fakeContext())).rejects.toThrow(
    "/dev/zero is larger than 1048576 bytes",
  );
});

test("a file that others can read is warned about", async () => {
  const context = fakeContext();
  await readEndpointKeys(await keysFile("{}", 0o644), context);
  expect(context.stderr.text).toContain("(mode 644): run chmod 600 ");
});
