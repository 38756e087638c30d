import { execFileSync } from "node:child_process";
import { createReadStream, readdirSync, readlinkSync } from "node:fs";
import { open, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openInput } from "../../../src/io/input/open-input.js";
import { runRepute, startRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { workspace } from "../../helpers/workspace.js";

const ask = ["--intel-url", "http://127.0.0.1:9/beta"];

/** Commands that read a named pipe without a writer. */
const reading: Readonly<Record<string, readonly string[]>> = {
  "an input": ["enrich", "pipe", "-o", "out.csv", ...ask],
  "one of several inputs": ["enrich", "in.csv", "pipe", "-o", "out.csv", ...ask],
  "a compressed input": ["enrich", "pipe.csv.gz", "-o", "out.csv", ...ask],
  "a JSON document": ["plan", "pipe.json"],
  "a text": ["extract", "pipe"],
  "a config file": ["enrich", "in.csv", "-o", "out.csv", ...ask, "--config", "pipe"],
  "an API key": ["query", "192.0.2.1", ...ask, "--api-key-file", "pipe"],
  webhooks: ["webhook", "check", "pipe"],
};

const signals = ["SIGINT", "SIGTERM"] as const;

test.each(Object.entries(reading).map(([what, args], n) => [what, signals[n % 2]!, args] as const))(
  "%s that is a named pipe without a writer ends with %s",
  async (_, signal, args) => {
    const cwd = await withPipe();
    const { child, result } = startRepute(args, { cwd });
    await opened(child.pid!, join(cwd, "pipe"));
    child.kill(signal);
    expect(await result).toMatchObject({ code: signal === "SIGINT" ? 130 : 143, signal: null });
  },
);

test.each([
  ["an exclusion list", ["query", "192.0.2.1", "--local", "--exclude", "pipe"]],
  ["an output in a report", ["report", "pipe", "-o", "page.html"]],
  ["an output in a diff", ["diff", "pipe", "in.csv"]],
  ["an output in a retry", ["retry", "pipe", "-o", "out.csv", "--local"]],
  ["a DuckDB file", ["enrich", "in.csv", "-o", "duckdb:pipe?table=t", "--local"]],
])("%s is never read from a named pipe", async (_, args) => {
  const { code, stderr } = await runRepute(args, { cwd: await withPipe() });
  expect([code === 1 || code === 2, stderr]).toEqual([
    true,
    expect.stringMatching(/named pipe|not a regular file/),
  ]);
});

test("metrics do not wait for the writer of a named pipe", async () => {
  const cwd = await withPipe();
  const args = ["enrich", "in.csv", "-o", "out.csv", "--local", "--metrics", "pipe"];
  expect(await runRepute(args, { cwd })).toMatchObject({ code: 0 });
});

test.each(signals)("an output that is a pipe without a reader ends with %s", async (signal) => {
  const cwd = await withPipe();
  const args = ["enrich", "in.csv", "-o", "pipe", "--to", "csv", "--local"];
  const { child, result, waitFor } = startRepute(args, { cwd });
  await waitFor("stderr", /using column/);
  child.kill(signal);
  expect(await result).toMatchObject({ code: signal === "SIGINT" ? 130 : 143, signal: null });
});

test("an output that is a pipe has its rows, whenever the reader comes", async () => {
  const cwd = await withPipe();
  const args = ["enrich", "in.csv", "-o", "pipe", "--to", "csv", "--local", "--columns", "kind"];
  const { result, waitFor } = startRepute(args, { cwd });
  await waitFor("stderr", /using column/);
  const rows = await text(createReadStream(join(cwd, "pipe")));
  expect(await result).toMatchObject({ code: 0 });
  expect(rows).toBe("domain,rep_status,rep_kind\na.example.com,complete,domain\n");
});

test("a pipe among several inputs is read once, and no row of it is lost", async () => {
  const cwd = await withPipe();
  const args = ["enrich", "in.csv", "pipe", "-o", "out.csv", "--local", "--columns", "kind"];
  const { result } = startRepute(args, { cwd });
  await writeFile(join(cwd, "pipe"), "domain\nb.example.com\nc.example.com\n");
  expect(await result).toMatchObject({ code: 0 });
  expect(await readFile(join(cwd, "out.csv"), "utf8")).toBe(
    "domain,rep_status,rep_kind,rep_file\na.example.com,complete,domain,in.csv\nb.example.com,complete,domain,pipe\nc.example.com,complete,domain,pipe\n",
  );
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("%s ends a plan of a pipe that stays open", async (signal, code) => {
  const { child, result, waitFor } = startRepute(["plan", "-", "--from", "csv"]);
  child.stdin?.write(`domain\n${"h.example.com\n".repeat(20_000)}`);
  await waitFor("stderr", /using column/);
  child.kill(signal);
  expect(await result).toMatchObject({ code, stdout: "" });
});

test("a named pipe is read until its writer closes it, or the reader", async () => {
  const path = join(await withPipe(), "pipe");
  const opening = async () => {
    const [input, writer] = [openInput({ path }, { gzip: false }), await open(path, "w")];
    await writer.write("ip\n192.0.2.1\n");
    const bytes = await input;
    expect((await bytes.chunks.next()).value?.toString()).toBe("ip\n192.0.2.1\n");
    return { bytes, writer, next: bytes.chunks.next() };
  };
  const { bytes, writer, next } = await opening();
  await writer.close();
  expect(await next).toMatchObject({ done: true });
  expect([bytes.bytesTotal, bytes.bytesRead()]).toEqual([null, 13]);
  const { bytes: again, writer: silent, next: waiting } = await opening();
  await again.close();
  await expect(waiting).rejects.toMatchObject({ code: "input_unreadable" });
  await silent.close();
});

async function withPipe(): Promise<string> {
  const cwd = await temporaryFolder();
  execFileSync("mkfifo", [join(cwd, "pipe")]);
  await writeFile(join(cwd, "in.csv"), "domain\na.example.com\n");
  for (const name of ["pipe.csv.gz", "pipe.json"]) await symlink("pipe", join(cwd, name));
  return cwd;
}

/** Resolves once a process has a file open; rejects if it does not within 20 s. */
async function opened(pid: number, path: string): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const folder = `/proc/${pid}/fd`;
    if (readdirSync(folder).some((fd) => isLinkTo(join(folder, fd), path))) return;
    await sleep(50);
  }
  throw new Error(`${path} was not opened`);
}

function isLinkTo(link: string, path: string): boolean {
  try {
    return readlinkSync(link) === path;
  } catch {
    return false;
  }
}

test.each([
  ["extract", ["extract", "in.csv", "-o", "out.csv"], /^item,kind,file,line,count\n/],
  ["diff", ["diff", "a.csv", "a.csv", "-o", "out.csv"], /^change,/],
  ["report", ["report", "a.csv", "-o", "out.html"], /^<!doctype html>/i],
  [
    "enrich --report",
    ["enrich", "in.csv", "--local", "-o", "b.csv", "--report", "out.html"],
    /^<!doctype html>/i,
  ],
])("%s writes to a named pipe, which stays one", async (_, args, content) => {
  const { at, run } = await workspace({ "in.csv": "ip\n192.0.2.1\n" });
  await run("enrich", "in.csv", "-o", "a.csv", "--local", "--quiet");
  const pipe = at(args.find((arg) => arg.startsWith("out."))!);
  execFileSync("mkfifo", [pipe]);
  const read = text(createReadStream(pipe));
  expect(await run(...args, "--quiet")).toMatchObject({ code: 0 });
  expect(await read).toMatch(content);
  expect((await stat(pipe)).isFIFO()).toBe(true);
});
