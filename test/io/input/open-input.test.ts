import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openError, openInput } from "../../../src/io/input/open-input.js";
import type { SourceInput } from "../../../src/io/input/types.js";
import { contentOf, piped, streamOf } from "./sources/sources-reading.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const fromStart = { gzip: false };

async function fileOf(content: string | Buffer): Promise<{ readonly path: string }> {
  const path = join(await temporaryFolder(), "input");
  await writeFile(path, content);
  return { path };
}

async function textOf(input: SourceInput): Promise<string> {
  return String(await contentOf(await openInput(input, fromStart)));
}

describe("openInput", () => {
  it.each([
    ["a stream of strings", () => Readable.from(["ü\n", "", "b\n"]), "ü\nb\n"],
    ["no byte order mark", () => streamOf("\ufeffa\n", 1), "a\n"],
    [
      "UTF-16 with a surrogate pair split between chunks",
      () => streamOf(Buffer.from("\ufeffa😀\n", "utf16le"), 1),
      "a😀\n",
    ],
  ])("reads %s", async (_, stream, text) => {
    expect(await textOf({ stream: stream(), name: "stdin" })).toBe(text);
  });

  it("counts stored bytes", async () => {
    const bytes = await openInput(await fileOf("0123456789"), fromStart);
    for await (const chunk of bytes.chunks) expect(chunk.length).toBe(10);
    expect([bytes.bytesRead(), bytes.bytesTotal]).toEqual([10, 10]);
    await bytes.close();
  });

  it("reports a stream that fails, with the offset", async () => {
    const stream = new Readable({ read() {} });
    stream.push("abc\n");
    const reading = textOf({ stream, name: "stdin" });
    setImmediate(() => stream.destroy(new Error("the pipe burst")));
    await expect(reading).rejects.toMatchObject({
      name: "FatalError",
      code: "input_unreadable",
      message: "cannot read stdin after byte 4: the pipe burst",
    });
  });

  it("closes the stream if its start cannot be read", async () => {
    const stream = streamOf("abc");
    await openInput({ stream, name: "stdin" }, { gzip: true }).catch(() => null);
    expect(stream.destroyed).toBe(true);
  });
});

it.each([
  ["ENOENT", "input_not_found", "check the path"],
  ["EISDIR", "input_is_directory", "name one file"],
  ["EACCES", "input_unreadable", "check the permissions"],
  ["EMFILE", "input_unreadable", ""],
])("openError turns %s into %s", async (system, code, hint) => {
  const error = openError("dump.csv", Object.assign(new Error("it failed"), { code: system }));
  expect(error.code).toBe(code);
  expect(error.hint ?? "").toContain(hint);
});

it.each([
  ["PK\x03\x04\x14", "a ZIP archive"],
  [`PK\x05\x06${"\0".repeat(18)}`, "an empty ZIP archive"],
  ["GIF89a\x01\0\x01\0;", "a GIF image"],
  ["%PDF-1.7\n", "a PDF document"],
  ["\x89PNG\r\n\x1a\n", "a PNG image"],
  [`${"name".padEnd(257, "\0")}ustar\0`, "a tar archive"],
  ['<?xml version="1.0"?>\n<a/>', "an XML document"],
  ["\xef\xbb\xbf<stix:Package xmlns='x'>\n<a>192.0.2.1</a>", "an XML document"],
  ["<!DOCTYPE html>\n<p>", "an HTML page"],
  ["i\0p\0\n\0", "UTF-16 text"],
  ["\x01\0\0\x02\0\n\0\x03\n".repeat(12), "binary data"],
])("an input that is not rows, objects or a list %j is rejected and named", async (start, kind) => {
  const bytes = Buffer.from(start, "latin1");
  await expect(openInput(piped(bytes), fromStart)).rejects.toMatchObject({
    code: "input_binary",
    message: expect.stringContaining(kind) as string,
  });
});

it.each([
  ["utf-16le", "i\0p\0\n\0"],
  ["utf-16be", "\0i\0p\0\n"],
])("a text in %s without a byte order mark is told from binary data", async (encoding, start) => {
  await expect(openInput(piped(start), fromStart)).rejects.toMatchObject({
    hint: `name its encoding: --encoding ${encoding}`,
  });
});

it.each([
  ["like a signature", "PKI,note\n"],
  ["with angle brackets", "<https://example.com/>\n<a@example.com>\n"],
  ["with a stray NUL", "ip,note\n192.0.2.1,a\0b\n"],
  ["with Latin-1", "ip,note\n192.0.2.1,B\xfcro\n"],
  ["with nothing", ""],
])("text is accepted: %s", async (_, text) => {
  const bytes = Buffer.from(text, "latin1");
  const input = await openInput(piped(bytes), fromStart);
  expect(await contentOf(input)).toEqual(bytes);
});
