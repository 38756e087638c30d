import { mkdir, writeFile } from "node:fs/promises";
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
  it("reads a stream of strings", async () => {
    const stream = Readable.from(["ü\n", "", "b\n"]);
    expect(await textOf({ stream, name: "stdin" })).toBe("ü\nb\n");
  });

  it("skips a byte order mark", async () => {
    expect(await textOf(piped("\ufeffa\n", 1))).toBe("a\n");
  });

  it("reads UTF-16 with a surrogate pair split between chunks", async () => {
    expect(await textOf(piped(Buffer.from("\ufeffa😀\n", "utf16le"), 1))).toBe("a😀\n");
  });

  it("counts stored bytes", async () => {
    const bytes = await openInput(await fileOf("0123456789"), fromStart);
    for await (const chunk of bytes.chunks) expect(chunk.length).toBe(10);
    expect([bytes.bytesRead(), bytes.bytesTotal]).toEqual([10, 10]);
    await bytes.close();
  });

  it("points to --resume if the run of a missing output was interrupted", async () => {
    const path = join(await temporaryFolder(), "absent.csv");
    await mkdir(`${path}.state`);
    await expect(openInput({ path }, fromStart)).rejects.toMatchObject({
      message: `there is no file ${path}`,
      hint: expect.stringContaining("--resume") as string,
    });
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
  const error = await openError(
    "dump.csv",
    Object.assign(new Error("it failed"), { code: system }),
  );
  expect(error.code).toBe(code);
  expect(error.hint ?? "").toContain(hint);
});
