import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { gunzip } from "../../../src/io/input/decode.js";
import { openInput } from "../../../src/io/input/open-input.js";
import { piped } from "./sources/sources-reading.js";

const member = gzipSync("hello\n");

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What is read before an error, and that error. */
async function unzippedUntil(bytes: Buffer, size: number) {
  let text = "";
  try {
    const chunks = gunzip(chunksOf(bytes, size), "dump.csv.gz");
    for await (const chunk of chunks) text += chunk.toString();
    return { text, error: null };
  } catch (error) {
    return { text, error };
  }
}

/** Its checksum is damaged. */
const damaged = Buffer.from(member);
damaged[damaged.length - 6]! ^= 1;

const garbage =
  /^dump\.csv\.gz has trailing garbage: its gzip data ends (?:at byte 26|before byte \d+)$/;

describe.each([1, 7, 65_536])("gunzip in chunks of %d", (size) => {
  it.each([
    ["all members", [member, member], "hello\nhello\n"],
    ["no zero padding after the last member", [member, Buffer.alloc(100)], "hello\n"],
  ])("reads %s", async (_, parts, text) => {
    expect(await unzippedUntil(Buffer.concat(parts), size)).toEqual({ text, error: null });
  });

  it.each([
    ["text after the last member", [member, Buffer.from("more")], garbage],
    ["a member behind zeros", [member, Buffer.alloc(9), member], garbage],
    ["a later member damaged at its start", [member, Buffer.alloc(1), member.subarray(1)], garbage],
    [
      "truncated data, with the offset",
      [member.subarray(0, 20)],
      /^dump\.csv\.gz is truncated or has trailing garbage: it ends at byte 20, within gzip data$/,
    ],
    [
      "damaged data, with an offset after the damage",
      [damaged],
      /^dump\.csv\.gz is damaged: invalid gzip data before byte \d+ /,
    ],
  ])("refuses %s", async (_, parts, message) => {
    const { error } = await unzippedUntil(Buffer.concat(parts), size);
    expect(error).toMatchObject({ code: "input_gzip", message: expect.stringMatching(message) });
  });
});

describe("gunzip of a member larger than one chunk of output", () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `${n},${(n * 7919) % 10_007}\n`).join("");
  const large = gzipSync(lines);

  it.each([0.01, 0.05, 0.5])("reports damage after %d of it", async (share) => {
    const damaged = Buffer.from(large);
    damaged.write("XXXX", Math.floor(large.length * share));
    const { text, error } = await unzippedUntil(damaged, 65_536);
    expect(error).toMatchObject({ code: "input_gzip" });
    // zlib fills 64 KiB before it returns any.
    expect(text.length).toBeGreaterThan(lines.length * share * 0.9 - 65_536);
  });
});

it.each(["", "item\n"])("an input declared as gzip is rejected if it is %j", async (content) => {
  await expect(openInput(piped(content), { gzip: true })).rejects.toMatchObject({
    name: "FatalError",
    code: "input_gzip",
    message: expect.stringContaining("byte 0") as string,
  });
});
