import { existsSync } from "node:fs";
import { readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFileDestination, partPath } from "../../../src/outputs/file-destination.js";
import type { WrittenPosition } from "../../../src/outputs/file-destination.js";
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

test("an empty part is removed when abandoned, and can be resumed all the same", async () => {
  const path = await target();
  const position = await interruptedAfter(path, "");
  expect(existsSync(partPath(path))).toBe(false);
  const resumed = await openFileDestination(path, position);
  await resumed.write(Buffer.from("{}\n"));
  await resumed.finish();
  expect(await readFile(path, "utf8")).toBe("{}\n");
});

test("bytes after the checkpoint are truncated", async () => {
  const path = await target();
  const position = await interruptedAfter(path, "one\n", "two\n");
  const resumed = await openFileDestination(path, position);
  await resumed.write(Buffer.from("2\n"));
  await resumed.finish();
  expect(await readFile(path, "utf8")).toBe("one\n2\n");
});

test("a missing part is reported, with a hint", async () => {
  const position = await interruptedAfter(await target(), "one\n");
  await expect(openFileDestination(await target(), position)).rejects.toMatchObject({
    code: "output_part_gone",
    hint: "start over with --restart",
  });
});

test("a truncated part is not padded with zeros", async () => {
  const path = await target();
  const position = await interruptedAfter(path, "one\ntwo\n");
  await truncate(partPath(path), 3);
  await expect(openFileDestination(path, position)).rejects.toMatchObject({
    code: "output_part_gone",
    message: `${partPath(path)} has 3 bytes; the interrupted run wrote 8`,
  });
  expect(await readFile(partPath(path), "utf8")).toBe("one");
});

test("a changed byte is reported with its range, also after several sessions", async () => {
  const path = await target();
  const first = await interruptedAfter(path, "a".repeat(200_000));
  const second = await openFileDestination(path, first);
  await second.write(Buffer.from("b".repeat(200_000)));
  const position = { length: second.length, checksum: second.checksum()! };
  await second.abandon();
  const whole = await readFile(partPath(path));
  for (const at of [0, 150_000, 399_999]) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 1;
    await writeFile(partPath(path), damaged);
    const error = await openFileDestination(path, position).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "output_part_damaged",
      hint: "start over with --restart",
    });
    const [, from, to] = /between byte (\d+) and byte (\d+)$/.exec(String(error)) ?? [];
    expect([Number(from) <= at, Number(to) > at]).toEqual([true, true]);
    expect(damaged.equals(await readFile(partPath(path)))).toBe(true);
  }
  await writeFile(partPath(path), whole);
  await (await openFileDestination(path, position)).finish();
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
