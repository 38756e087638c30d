import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "rolldown/utils";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runRepute, type RunReputeOptions, type RunReputeResult } from "../helpers/run-repute.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A copy of the built program with the sink added. */
let copy: string;
let program: Required<Pick<RunReputeOptions, "runToEnd">>;

/** Takes rows, and keeps what it got by key. */
let collector: Server;
const received = new Map<string, string>();
/** Status of its answers to rows. */
let status = 200;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "repute-test-"));
  const built = join(root, "dist");
  await cp(built, join(copy, "dist"), {
    recursive: true,
    filter: (path) => !/^program$|\.d\.ts$/.test(relative(built, path)),
  });
  await cp(join(root, "package.json"), join(copy, "package.json"));
  for (const name of ["samples", "node_modules"]) await symlink(join(root, name), join(copy, name));
  await addSink();
  const path = pathToFileURL(join(copy, "dist", "cli", "command-line", "command-line.js")).href;
  program = (await import(path)) as typeof program;
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

afterAll(async () => {
  await new Promise((resolve) => collector.close(resolve));
  await rm(copy, { recursive: true, force: true });
});

/** Follows the docs: copies the folder, and adds the import and the name to the registry. */
async function addSink(): Promise<void> {
  await mkdir(join(copy, "dist", "io", "output", "http"));
  for (const name of ["output", "publish"]) {
    const sample = await readFile(join(root, "samples", "sinks", "http", `${name}.ts`), "utf8");
    await build(
      join("io", "output", "http", name),
      sample.replaceAll('"../../../src/', '"../../../'),
    );
  }
  const page = await readFile(join(root, "docs", "contributing.md"), "utf8");
  const [, imported = "", line = ""] = /```ts\n(import .*)\n+(.*)\n```/.exec(page) ?? [];
  const path = join("io", "output", "registry");
  const registry = await readFile(join(root, "src", `${path}.ts`), "utf8");
  const list = "const kinds: readonly ParseKind[] = [";
  expect([registry.includes(list), line.trim()]).toEqual([true, "httpOutput,"]);
  await build(path, `${imported}\n${registry.replace(list, `${list}${line}\n`)}`);
}

/** Writes what a file of `src/` becomes. */
async function build(path: string, source: string): Promise<void> {
  const { code, errors } = await transform(`${path}.ts`, source);
  expect(errors).toEqual([]);
  await writeFile(join(copy, "dist", `${path}.js`), code);
}

function repute(...args: readonly string[]): Promise<RunReputeResult> {
  return runRepute(args, { cwd: copy, runToEnd: program.runToEnd });
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

const input = join("samples", "indicators.csv");
const enrich = [
  "enrich",
  input,
  "--local",
  "--quiet",
  "--fail-on",
  "never",
  "--state-dir",
  "state",
];

test("a folder of two files and one line make another sink", async () => {
  const out = address("one?token=secret");
  expect(await repute(...enrich, "-o", out)).toMatchObject({ code: 0, stderr: "" });
  expect(rowsReceived()).toHaveLength(24);
  expect(rowsReceived()[0]).toContain('{"seen":');
  const verified = await repute("verify", out, "--state-dir", "state");
  expect([verified.code, verified.stderr]).toEqual([2, expect.stringContaining("cannot be read")]);
  expect(verified.stderr).not.toContain("secret");
});

test("resumes a run to it with each row once, and starts over without rows of the earlier one", async () => {
  await repute(...enrich, "-o", address("whole"));
  const whole = rowsReceived();
  for (const how of ["--resume", "--restart"]) {
    received.clear();
    const out = ["-o", address(`in-parts${how}`)];
    expect(await repute(...enrich, ...out, "--max-requests", "12")).toMatchObject({ code: 75 });
    expect(rowsReceived()).toEqual([]);
    expect(await repute(...enrich, ...out, how)).toMatchObject({ code: 0, stderr: "" });
    expect(rowsReceived()).toEqual(whole);
  }
});

test("keeps the rows of a run that the collector refuses, and sends them with --resume", async () => {
  const out = ["-o", address("refused")];
  status = 503;
  const refused = await repute(...enrich, ...out);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("HTTP 503")]);
  status = 200;
  expect(await repute(...enrich, ...out, "--resume")).toMatchObject({ code: 0, stderr: "" });
  expect(rowsReceived()).toHaveLength(24);
});
