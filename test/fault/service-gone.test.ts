import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startAnsweringServer } from "../helpers/answering-server.js";
import type { AnsweringServer } from "../helpers/answering-server.js";
import { runRepute, startRepute } from "../helpers/run-repute.js";
import type { RunReputeResult } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const rows = 2_000;

it("waits for a service that goes down and comes back, without losing a row", async () => {
  const { server, run, out } = await prepared(rows);
  const stopped = stopAfter(server, 700);
  const running = run([]);
  await stopped;
  await running.said(/the run waits and probes it/);
  await server.start();
  const { code } = await running.result;
  expect(code).toBe(0);
  expect(await statuses(out)).toEqual({ complete: rows });
  expect(server.total).toBeLessThanOrEqual(rows + 2 * 32);
});

it("ends with one clear line when a service stays down, and resumes later", async () => {
  const { server, args, run, out } = await prepared(rows);
  const stopped = stopAfter(server, 700);
  const running = run(["--outage-patience", "1s"]);
  await stopped;
  const { code, stderr } = await running.result;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^repute: nothing but errors from http:\/\/127\.0\.0\.1.*\n.*--resume/m);
  expect(stderr).not.toContain("    at ");
  expect(existsSync(out)).toBe(false);
  await server.start();
  expect((await runRepute([...args, "--resume"])).code).toBe(0);
  expect(await statuses(out)).toEqual({ complete: rows });
  expect(server.total).toBeLessThanOrEqual(rows + 2 * 32);
});

it("ends with one clear line when the output's folder disappears", async () => {
  const { server, folder, run } = await prepared(4_000);
  const running = run([]);
  await requestsOf(server, 500);
  await rm(join(folder, "out"), { recursive: true, force: true });
  const { code, stderr } = await running.result;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^repute: .*(folder does not exist|journal)/m);
  expect(stderr).not.toContain("    at ");
});

interface Prepared {
  readonly server: AnsweringServer;
  readonly folder: string;
  readonly out: string;
  /** The command that `run` starts in a process of its own. */
  readonly args: readonly string[];
  readonly run: (flags: readonly string[]) => {
    readonly result: Promise<RunReputeResult>;
    readonly said: (pattern: RegExp) => Promise<unknown>;
  };
}

async function prepared(items: number): Promise<Prepared> {
  const folder = await temporaryFolder();
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  const input = join(folder, "in.csv");
  const names = Array.from({ length: items }, (_, n) => `host-${n}.example.com\n`);
  await writeFile(input, `domain\n${names.join("")}`);
  await mkdir(join(folder, "out"));
  const out = join(folder, "out", "out.csv");
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "2000/s"];
  const args = ["enrich", input, "-o", out, ...service];
  return {
    server,
    folder,
    out,
    args,
    run(flags) {
      const running = startRepute([...args, ...flags]);
      running.child.stdin?.end();
      return {
        result: running.result,
        said: (pattern) => running.waitFor("stderr", pattern),
      };
    },
  };
}

/** Resolves once this many requests were made in total. */
function requestsOf(server: AnsweringServer, total: number): Promise<void> {
  return new Promise((resolve) => {
    server.onRequest = (made) => {
      if (made === total) resolve();
      return true;
    };
  });
}

async function stopAfter(server: AnsweringServer, total: number): Promise<void> {
  await requestsOf(server, total);
  await server.stop();
}

async function statuses(out: string): Promise<Record<string, number>> {
  const manifest = JSON.parse(await readFile(`${out}.manifest.json`, "utf8")) as {
    statuses: Record<string, number>;
  };
  return Object.fromEntries(Object.entries(manifest.statuses).filter(([, n]) => n > 0));
}
