import { existsSync } from "node:fs";
import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFileDestination, partPath } from "../../../src/sinks/file-destination.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

async function target(): Promise<string> {
  return join(await temporaryFolder(), "out.csv");
}

test("what is empty is gone when it is abandoned, and is gone on with all the same", async () => {
  const path = await target();
  await (await openFileDestination(path, null)).abandon();
  expect(existsSync(partPath(path))).toBe(false);
  const resumed = await openFileDestination(path, 0);
  await resumed.write(Buffer.from("{}\n"));
  await resumed.finish();
  expect(await readFile(path, "utf8")).toBe("{}\n");
});

test("what was written beyond the checkpoint is cut away", async () => {
  const path = await target();
  const first = await openFileDestination(path, null);
  await first.write(Buffer.from("one\ntwo\n"));
  await first.abandon();
  const resumed = await openFileDestination(path, 4);
  await resumed.write(Buffer.from("2\n"));
  await resumed.finish();
  expect(await readFile(path, "utf8")).toBe("one\n2\n");
});

test("a part that is gone is told, and how to go on", async () => {
  await expect(openFileDestination(await target(), 4)).rejects.toMatchObject({
    code: "output_part_gone",
    hint: "start anew with --restart",
  });
});

test("a part that has become shorter is not filled up with zeros", async () => {
  const path = await target();
  await writeFile(partPath(path), "one\ntwo\n");
  await truncate(partPath(path), 3);
  await expect(openFileDestination(path, 8)).rejects.toMatchObject({ code: "output_part_gone" });
  expect(await readFile(partPath(path), "utf8")).toBe("one");
});
