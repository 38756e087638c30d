import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enrichOptions } from "../../../../src/pipeline/options.js";
import type { EnrichJob, RunProgress } from "../../../../src/pipeline/types.js";
import { enrich } from "../../../../src/pipeline/run/execute.js";
import { enrichWithWorkers } from "../../../../src/pipeline/workers/enrich-with-workers.js";
import type { WorkerReport } from "../../../../src/pipeline/workers/messages.js";
import type { StartWorker, Worker } from "../../../../src/pipeline/workers/start-worker.js";
import { type Service, startService } from "../../../../src/service/service.js";
import { aProgress } from "../../../helpers/a-progress.js";
import { comparable, comparableCounts } from "../../../helpers/chunked-run.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { workerHere } from "../../../helpers/worker-here.js";

let service: Service;
beforeAll(async () => void (service = await startService({ synthetic: 1 })));
afterAll(() => service.close());

const rows = Array.from({ length: 24 }, (_, n) => `192.0.2.${n},"note\n${n}"\n`);
const csv = `ip,note\n${rows.join("")}`;

/** A worker that is killed when it gets its first chunk, after it has reported so many rows. */
function workerToDie(rowsWritten = 0): Worker {
  const exits: ((how: string) => void)[] = [];
  const reports: ((report: WorkerReport) => void)[] = [];
  const die = (): void => {
    const progress = aProgress({ rowsWritten });
    for (const report of reports) report({ type: "progress", progress });
    for (const exit of exits) exit("SIGKILL");
  };
  return {
    post(order) {
      if (order.type === "chunk") setImmediate(die);
    },
    onReport: (receive) => void reports.push(receive),
    onExit: (receive) => void exits.push(receive),
    close: () => undefined,
  };
}

interface Run {
  readonly folder: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly startWorker?: StartWorker;
  readonly more?: Partial<EnrichJob>;
}

async function jobIn({ folder, settings, more }: Run, output = "out.csv"): Promise<EnrichJob> {
  const input = join(folder, "in.csv");
  if (!existsSync(input)) await writeFile(input, csv);
  const { intelUrl } = service;
  const own = { intelUrl, output: join(folder, output), ...settings };
  return {
    settings: enrichOptions.parse(own),
    input: { path: input },
    stdout: new PassThrough(),
    apiKey: null,
    stateFolder: null,
    command: [],
    signal: new AbortController().signal,
    ...more,
  };
}

async function run(options: Run) {
  const startWorker = options.startWorker ?? workerHere;
  return enrichWithWorkers(await jobIn(options), { workers: 3, rowsPerChunk: 5, startWorker });
}

describe("a run with workers", () => {
  it("gives the output of a single process and leaves nothing behind", async () => {
    const folder = await temporaryFolder();
    const rejects = join(folder, "left.csv");
    const seen: (() => RunProgress)[] = [];
    const onStart = (progress: () => RunProgress): void => void seen.push(progress);
    const manifest = await run({ folder, settings: { rejects }, more: { onStart } });
    const one = await enrich(await jobIn({ folder }, "one.csv"));
    const [out, single] = await Promise.all(
      ["out.csv", "one.csv"].map((name) => readFile(join(folder, name), "utf8")),
    );
    expect(comparable(out!)).toEqual(comparable(single!));
    expect(comparableCounts(manifest)).toEqual(comparableCounts(one));
    expect(seen.map((progress) => progress().rowsWritten)).toEqual([24]);
    expect((await readdir(folder)).filter((name) => !name.startsWith("one"))).toEqual([
      "in.csv",
      "left.csv",
      "out.csv",
      "out.csv.manifest.json",
    ]);

    const empty = join(folder, "empty.csv");
    await writeFile(empty, "indicator\n");
    const again = run({ folder, more: { input: { path: empty } } });
    await expect(again).rejects.toMatchObject({ code: "input_empty" });
    const lost = { intelUrl: service.intelUrl.replace(/beta$/, "elsewhere") };
    const large = { workers: 2, rowsPerChunk: 24, startWorker: workerHere };
    const astray = enrichWithWorkers(await jobIn({ folder, settings: lost }), large);
    await expect(astray).rejects.toMatchObject({ code: "wrong_service" });
    const left = (await readdir(folder)).filter((name) => name.startsWith("out"));
    expect(left).toEqual(["out.csv", "out.csv.manifest.json"]);
  });

  it("gives that of a list with comments and tabs, with some addresses twice", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "list.txt");
    const list = Array.from({ length: 60 }, (_, n) => `198.51.100.${n % 50}\t${n % 9}\n`);
    await writeFile(path, `# About: a list\n# address\tlists\n#\n${list.join("")}`);
    const more = { input: { path } };
    const manifest = await run({ folder, more });
    const one = await enrich(await jobIn({ folder, more }, "one.csv"));
    const [out, single] = await Promise.all(
      ["out.csv", "one.csv"].map((name) => readFile(join(folder, name), "utf8")),
    );
    expect(comparable(out!)).toEqual(comparable(single!));
    expect(comparableCounts(manifest)).toEqual(comparableCounts(one));
    expect(manifest.statuses.complete + manifest.statuses.partial).toBe(60);
  });

  it("continues the chunk of a worker that was killed", async () => {
    const folder = await temporaryFolder();
    const warnings: string[] = [];
    const onWarning = (message: string): void => void warnings.push(message);
    let started = 0;
    const startWorker = (): Worker => (++started === 1 ? workerToDie() : workerHere());
    const { output } = await run({ folder, startWorker, more: { onWarning } });
    expect(output.rows).toBe(24);
    expect(warnings).toEqual(["a worker ended (SIGKILL); chunk 0 is continued"]);
  });

  it("asks once for items of several chunks, also while another worker asks", async () => {
    const folder = await temporaryFolder();
    const items = Array.from({ length: 24 }, (_, n) => `198.51.100.${n % 4}\n`);
    await writeFile(join(folder, "in.csv"), `ip\n${items.join("")}`);
    const { requests, sources } = await run({ folder, settings: { lookups: "query" } });
    const one = await enrich(await jobIn({ folder, settings: { lookups: "query" } }, "one.csv"));
    expect(requests).toEqual(one.requests);
    expect(sources).toEqual(one.sources);
  });

  it("keeps shared answers for the rest of an interrupted run", async () => {
    const folder = await temporaryFolder();
    const items = Array.from({ length: 24 }, (_, n) => `198.51.100.${n % 4}\n`);
    await writeFile(join(folder, "in.csv"), `ip\n${items.join("")}`);
    const settings = { lookups: "query", concurrency: 1 };
    const stopped = run({ folder, settings: { ...settings, maxRequests: 2 } });
    await expect(stopped).rejects.toMatchObject({ code: "requests_spent" });
    const { requests, output } = await run({ folder, settings: { ...settings, resume: true } });
    expect([output.rows, requests["query"]?.total]).toEqual([24, 4]);
    const raw = { lookups: "query" };
    await run({ folder, settings: { ...raw, output: join(folder, "raw.ndjson") } });
    await enrich(
      await jobIn({ folder, settings: { ...raw, output: join(folder, "raw1.ndjson") } }),
    );
    const [many, one] = await Promise.all(
      ["raw.ndjson", "raw1.ndjson"].map((name) => readFile(join(folder, name), "utf8")),
    );
    expect(comparable(many!)).toEqual(comparable(one!));
  });

  it("gives up when workers end again and again", async () => {
    const folder = await temporaryFolder();
    await expect(run({ folder, startWorker: () => workerToDie() })).rejects.toMatchObject({
      code: "worker_failed",
      message: expect.stringMatching(
        /^3 workers in a row ended during chunk \d, the last one with SIGKILL$/,
      ),
    });
    const record = await readFile(join(folder, "out.csv.state", "manifest.json"), "utf8");
    expect(JSON.parse(record)).toMatchObject({ exit_code: 1, resumable: true });
    expect((await run({ folder, settings: { resume: true } })).output.rows).toBe(24);
  });

  it("goes on for as long as each worker does a row more than the one before", async () => {
    const folder = await temporaryFolder();
    let started = 0;
    const startWorker = (): Worker => (++started <= 15 ? workerToDie(started) : workerHere());
    expect((await run({ folder, startWorker })).output.rows).toBe(24);
  });

  it("spends one budget, and continues with what is left", async () => {
    const folder = await temporaryFolder();
    const asked = (): number =>
      Object.values(service.stats().requests).reduce((sum, { total }) => sum + total, 0);
    const before = asked();
    const stopped = run({ folder, settings: { maxRequests: 20 } });
    await expect(stopped).rejects.toMatchObject({ code: "requests_spent" });
    expect(asked() - before).toBe(20);
    await expect(run({ folder })).rejects.toMatchObject({ code: "state_exists" });
    const single = enrich(await jobIn({ folder, settings: { resume: true } }));
    await expect(single).rejects.toMatchObject({ code: "resume_differs" });
    const other = run({ folder, settings: { resume: true, prefix: "x_" } });
    await expect(other).rejects.toMatchObject({ code: "resume_differs" });
    const { requests, output, resumed } = await run({ folder, settings: { resume: true } });
    expect(resumed).toBe(1);
    const total = Object.values(requests).reduce((sum, each) => sum + each.total, 0);
    expect([output.rows, total]).toEqual([24, asked() - before]);
  });

  it("ends with the error of a worker", async () => {
    const folder = await temporaryFolder();
    const settings = { intelUrl: "http://127.0.0.1:9/beta", retries: 0 };
    await expect(run({ folder, settings })).rejects.toMatchObject({ code: "service_unreachable" });
  });

  it("writes text files and Parquet only", async () => {
    const folder = await temporaryFolder();
    for (const output of ["-", `duckdb:${join(folder, "db")}?table=t`, `${folder}/set/`]) {
      const to = output.endsWith("/") ? "csv" : undefined;
      const refused = run({ folder, settings: { output, to } });
      await expect(refused).rejects.toMatchObject({ code: "workers_need_file" });
    }
    const raw = run({ folder, settings: { raw: true } });
    await expect(raw).rejects.toMatchObject({ code: "chunk_option" });
  });

  it("runs in processes of their own", async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, "in.csv"), csv);
    const flags = ["--local", "--synthetic", "1", "--workers", "2", "--rows-per-chunk", "10"];
    const args = ["enrich", "in.csv", "-o", "out.csv", ...flags];
    const { code, stderr } = await runRepute(args, { cwd, ownProcess: true });
    expect([code, stderr]).toEqual([0, expect.stringContaining("24 read, 24 written")]);
    expect(await readdir(cwd)).toEqual(["in.csv", "out.csv", "out.csv.manifest.json"]);
  });
});
