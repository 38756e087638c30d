import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadList, storeList } from "../../../../src/tags/folder/write-file.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const list = { v4: Uint32Array.of(1, 2), v6: Uint32Array.of(0, 0, 0, 1, 0, 0, 0, 2) };
const counts = { ipv4: 2, ipv6: 2 };

async function stored(): Promise<string> {
  const path = join(await temporaryFolder(), "list.bin");
  await storeList(path, list);
  return path;
}

test("a stored list is loaded unchanged", async () => {
  expect(await loadList(await stored(), counts)).toEqual(list);
});

test("a missing list, or one of another length, loads as null", async () => {
  expect(await loadList(join(await temporaryFolder(), "list.bin"), counts)).toBe(null);
  const path = await stored();
  await appendFile(path, "x");
  expect(await loadList(path, counts)).toBe(null);
});

test("a list that is not ascending loads as null", async () => {
  const path = await stored();
  const bytes = await readFile(path);
  await writeFile(
    path,
    Buffer.concat([bytes.subarray(4, 8), bytes.subarray(0, 4), bytes.subarray(8)]),
  );
  expect(await loadList(path, counts)).toBe(null);
});
