import { expect, it, test } from "vitest";
import { openInput } from "../../../src/io/input/open-input.js";
import { contentOf, piped } from "./sources/sources-reading.js";

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
  await expect(openInput(piped(bytes), { gzip: false })).rejects.toMatchObject({
    code: "input_binary",
    message: expect.stringContaining(kind) as string,
  });
});

it.each([
  ["utf-16le", "i\0p\0\n\0"],
  ["utf-16be", "\0i\0p\0\n"],
])("a text in %s without a byte order mark is told from binary data", async (encoding, start) => {
  await expect(openInput(piped(start), { gzip: false })).rejects.toMatchObject({
    hint: `name its encoding: --encoding ${encoding}`,
  });
});

test.each([
  ["like a signature", "PKI,note\n"],
  ["with angle brackets", "<https://example.com/>\n<a@example.com>\n"],
  ["with a stray NUL", "ip,note\n192.0.2.1,a\0b\n"],
  ["with Latin-1", "ip,note\n192.0.2.1,B\xfcro\n"],
  ["with nothing", ""],
])("text is accepted: %s", async (_, text) => {
  const bytes = Buffer.from(text, "latin1");
  const input = await openInput(piped(bytes), { gzip: false });
  expect(await contentOf(input)).toEqual(bytes);
});
