import { readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  openFileDestination,
  partPath,
  type WrittenPosition,
} from "../../../src/io/output/part-file.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

async function target(): Promise<string> {
  return join(await temporaryFolder(), "out.csv");
}

/** Writes to a part, abandons it and returns the position after the first text. */
async function interruptedAfter(path: string, text: string, more = ""): Promise<WrittenPosition> {
  const destination = await openFileDestination(path, null);
  await destination.write(Buffer.from(text));
  const position = { length: destination.length, checksum: destination.checksum()! };
  await destination.write(Buffer.from(more));
  await destination.abandon();
  return position;
}

test("an empty part can be resumed, even if it is gone", async () => {
  const path = await target();
  const position = await interruptedAfter(path, "");
  await rm(partPath(path));
  const resumed = await openFileDestination(path, position);
  await resumed.write(Buffer.from("{}\n"));
  await resumed.close();
  expect(await readFile(partPath(path), "utf8")).toBe("{}\n");
});

test("a symbolic link in place of the part is rejected and its target unchanged", async () => {
  const path = await target();
  const position = await interruptedAfter(path, "one\n");
  const linked = await target();
  const other = `${linked}.other`;
  await writeFile(other, "mine");
  await symlink(other, partPath(linked));
  for (const resume of [null, position]) {
    await expect(openFileDestination(linked, resume)).rejects.toMatchObject({
      code: "output_part_link",
      message: `cannot write ${partPath(linked)}: it is a symbolic link`,
    });
  }
  expect(await readFile(other, "utf8")).toBe("mine");
});
