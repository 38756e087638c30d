import { readFile, symlink } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { root } from "../docs/pages.js";
import { type ProgramCopy, programCopy } from "../helpers/program-copy.js";

/** A copy of the built program with the sink added. */
let copy: ProgramCopy;

/** Takes rows, and keeps what it got by key. */
let collector: Server;
const received = new Map<string, string>();
/** Status of its answers to rows. */
let status = 200;

beforeAll(async () => {
  copy = await programCopy();
  await symlink(join(root, "samples"), join(copy.folder, "samples"));
  await addSink();
  collector = createServer((request, response) => {
    void text(request).then((body) => {
      const key = String(request.headers["idempotency-key"]);
      const isRows = request.method === "POST";
      if (isRows && status === 200) received.set(key, body);
      response.writeHead(isRows ? status : 204).end();
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
});

beforeEach(() => {
  received.clear();
  status = 200;
});

afterAll(() => new Promise((resolve) => void collector.close(resolve)));

/** Follows the docs: copies the folder, and adds the import and the name to the registry. */
async function addSink(): Promise<void> {
  for (const name of ["output", "publish"]) {
    const sample = await readFile(join(root, "samples", "sinks", "http", `${name}.ts`), "utf8");
    await copy.create(`io/output/http/${name}`, sample.replaceAll('"../../../src/', '"../../../'));
  }
  const page = await readFile(join(root, "docs", "contributing.md"), "utf8");
  const [, imported = "", line = ""] = /```ts\n(import .*)\n+(.*)\n```/.exec(page) ?? [];
  expect(line.trim()).toBe("httpOutput,");
  const list = "const kinds: readonly ParseKind[] = [";
  await copy.change("io/output/registry", ["", `${imported}\n`], [list, `${list}${line}\n`]);
}

function address(name: string): string {
  return `http://127.0.0.1:${(collector.address() as AddressInfo).port}/${name}`;
}

/** The rows that the collector has: input and status. */
function rowsReceived(): readonly string[] {
  return [...received.values()]
    .flatMap((body) => body.trimEnd().split("\n"))
    .map((line) => {
      const { rep, ...input } = JSON.parse(line) as { rep: { status: string } };
      return `${JSON.stringify(input)} ${rep.status}`;
    });
}

/** Enriches the sample into an output. */
function enrich(...args: readonly string[]) {
  const input = join("samples", "indicators.csv");
  const flags = ["--local", "--quiet", "--fail-on", "never", "--state-dir", "state"];
  return copy.run("enrich", input, ...flags, ...args);
}

test("a folder of two files and one line make another sink", async () => {
  const out = address("one?token=secret");
  expect(await enrich("-o", out)).toMatchObject({ code: 0, stderr: "" });
  expect(rowsReceived()).toHaveLength(24);
  expect(rowsReceived()[0]).toContain('{"seen":');
  const verified = await copy.run("verify", out, "--state-dir", "state");
  expect([verified.code, verified.stderr]).toEqual([2, expect.stringContaining("cannot be read")]);
  expect(verified.stderr).not.toContain("secret");
});

test("resumes a run to it with each row once, and starts over without rows of the earlier one", async () => {
  await enrich("-o", address("whole"));
  const whole = rowsReceived();
  for (const how of ["--resume", "--restart"]) {
    received.clear();
    const out = ["-o", address(`in-parts${how}`)];
    expect(await enrich(...out, "--max-requests", "12")).toMatchObject({ code: 75 });
    expect(rowsReceived()).toEqual([]);
    expect(await enrich(...out, how)).toMatchObject({ code: 0, stderr: "" });
    expect(rowsReceived()).toEqual(whole);
  }
});

test("keeps the rows of a run that the collector refuses, and sends them with --resume", async () => {
  const out = ["-o", address("refused")];
  status = 503;
  const refused = await enrich(...out);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("HTTP 503")]);
  status = 200;
  expect(await enrich(...out, "--resume")).toMatchObject({ code: 0, stderr: "" });
  expect(rowsReceived()).toHaveLength(24);
});
