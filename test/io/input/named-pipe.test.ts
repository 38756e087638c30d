import { execFileSync } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStored } from "../../../src/io/input/stored-input.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

async function namedPipe(): Promise<string> {
  const path = join(await temporaryFolder(), "pipe");
  execFileSync("mkfifo", [path]);
  return path;
}

test("a named pipe is read until its writer closes it", async () => {
  const path = await namedPipe();
  const [stored, writer] = await Promise.all([openStored({ path }), open(path, "w")]);
  await writer.write("ip\n192.0.2.1\n");
  await writer.close();
  const chunks: Buffer[] = [];
  for await (const chunk of stored.chunks) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe("ip\n192.0.2.1\n");
  expect([stored.size, stored.checksum.bytes]).toEqual([null, 13]);
});

test("closing ends a read that waits for the writer of a named pipe", async () => {
  const path = await namedPipe();
  const [stored, writer] = await Promise.all([openStored({ path }), open(path, "w")]);
  const next = stored.chunks.next();
  await stored.close();
  await expect(next).rejects.toMatchObject({ code: "input_unreadable" });
  await writer.close();
});
