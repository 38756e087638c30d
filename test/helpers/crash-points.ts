import { spawn } from "node:child_process";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { startService } from "../../src/service/service.js";
import type { Service } from "../../src/service/service.js";
import type { StatsSnapshot } from "../../src/service/stats.js";
import { runRepute } from "./run-repute.js";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const preload = fileURLToPath(new URL("crash-preload.cjs", import.meta.url));

/** Requests open at once: as many may be repeated after a kill. */
const concurrency = 4;

/** Runs to be killed side by side. */
const workers = 3;

export interface CrashCase {
  /** `-o`, and what else the command has; paths are relative to the run's folder. */
  readonly args: readonly string[];
  /** Database whose commits count as operations. */
  readonly commits?: "duckdb" | "postgres";
  /** Arguments that differ from run to run. */
  readonly argsOf?: (run: string) => readonly string[];
  /** Everything that the run wrote, with what differs from run to run replaced. */
  readonly read: (folder: string, run: string) => Promise<unknown>;
}

/** What a run left, for comparison. */
interface Outcome {
  readonly code: number | null;
  readonly written: unknown;
  readonly manifest: unknown;
  readonly files: readonly string[];
}

export interface CrashReport {
  /** Operations at which a run was killed. */
  readonly points: number;
  /** What went wrong at each point, as sentences; empty where all is well. */
  readonly faults: readonly string[];
}

/**
 * Kills a run at its first operation that changes a file or commits to a database, resumes it and
 * compares what is there with an undisturbed run; then the same at the second operation, and so on
 * until a run ends before it is killed.
 *
 * @param every takes each n-th operation only. Default 1
 */
export async function crashEverywhere(
  folder: string,
  crashCase: CrashCase,
  every = 1,
): Promise<CrashReport> {
  const undisturbed = await Bench.open(folder, crashCase, "undisturbed");
  const expected = await undisturbed.outcome();
  const asked = await undisturbed.requests();
  await undisturbed.close();
  const faults: string[] = [];
  let points = 0;
  let next = 1;
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      const point = next;
      next += every;
      const bench = await Bench.open(folder, crashCase, `at-${point}`);
      if (await bench.killed(point)) {
        points++;
        const fault = await bench.resumed(expected, asked);
        if (fault !== null) faults.push(`killed at operation ${point}: ${fault}`);
      } else isOver = true;
      await bench.close();
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return { points, faults };
}

/** One run in a folder and against a service of its own. */
class Bench {
  readonly #folder: string;
  readonly #case: CrashCase;
  readonly #service: Service;

  private constructor(folder: string, crashCase: CrashCase, service: Service) {
    this.#folder = folder;
    this.#case = crashCase;
    this.#service = service;
  }

  static async open(parent: string, crashCase: CrashCase, name: string): Promise<Bench> {
    const folder = join(parent, name);
    await mkdir(folder);
    await writeFile(join(folder, "in.csv"), input);
    return new Bench(folder, crashCase, await startService());
  }

  /** Requests that the service has had. */
  async requests(): Promise<number> {
    const stats = await fetch(`${this.#service.opsUrl}/_local/stats`);
    const { requests } = (await stats.json()) as StatsSnapshot;
    return (requests.query?.total ?? 0) + (requests["quick-check"]?.total ?? 0);
  }

  /** Starts a run that is to be killed at an operation; false when it ended before. */
  async killed(point: number): Promise<boolean> {
    const { code, signal, stderr } = await this.#runUntil(point);
    if (signal === "SIGKILL") return true;
    if (code === 0 || code === 3) return false;
    throw new Error(`the run ended with ${code}: ${stderr}`);
  }

  /** Resumes the run; says what is wrong then, or null. */
  async resumed(expected: Outcome, asked: number): Promise<string | null> {
    const outcome = await this.outcome(["--resume"]);
    for (const name of ["code", "written", "manifest", "files"] as const) {
      const [is, was] = [text(outcome[name]), text(expected[name])];
      if (is !== was) return `${name} is ${is.slice(0, 2000)} instead of ${was.slice(0, 2000)}`;
    }
    const repeated = (await this.requests()) - asked;
    return repeated <= concurrency ? null : `${repeated} completed lookups were repeated`;
  }

  /** What a run to its end leaves; it runs in this process. */
  async outcome(flags: readonly string[] = []): Promise<Outcome> {
    const { code, stderr } = await runRepute([...this.#command(), ...flags], {
      cwd: this.#folder,
      env: this.#environment(),
    });
    if (code !== 0 && code !== 3) throw new Error(`the run ended with ${code}: ${stderr}`);
    const files = (await readdir(this.#folder, { recursive: true })).sort();
    const manifest = files.find((name) => name.endsWith("manifest.json"));
    return {
      code,
      written: await this.#case.read(this.#folder, basename(this.#folder)),
      manifest: await readManifest(join(this.#folder, manifest ?? "")),
      files: files.filter((name) => !isGeneration(name)).map(withoutTable),
    };
  }

  async close(): Promise<void> {
    await this.#service.close();
    await rm(this.#folder, { recursive: true });
  }

  #command(): string[] {
    const { args, argsOf } = this.#case;
    const own = argsOf?.(basename(this.#folder)) ?? [];
    const service = ["--intel-url", this.#service.intelUrl, "--partial-retries", "1", "--quiet"];
    const pace = ["--concurrency", String(concurrency), "--rate", "900/s"];
    return ["enrich", "in.csv", ...args, ...own, ...service, ...pace];
  }

  #environment(): Record<string, string> {
    return { XDG_STATE_HOME: join(this.#folder, "..", "home") };
  }

  #runUntil(
    point: number,
  ): Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }> {
    const { commits } = this.#case;
    const child = spawn(process.execPath, ["--require", preload, program, ...this.#command()], {
      cwd: this.#folder,
      env: {
        ...process.env,
        ...this.#environment(),
        CRASH_AT: String(point),
        ...(commits === undefined ? {} : { CRASH_COMMITS: commits }),
      },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
    return new Promise((resolve) => {
      child.on("close", (code, signal) => resolve({ code, signal, stderr }));
    });
  }
}

/** 50 rows: items of all kinds and answers, duplicates, rows that are too short and too long. */
const input = ["seen,indicator,note", ...rows(50)].join("\n");

function rows(count: number): string[] {
  const known = [
    "192.0.2.1,listed",
    "hxxp[://]login[.]example[.]com/verify?session=1",
    'www[.]example[.]net,"a ""quoted"" note"',
    "203.0.113.51,always answered in part,surplus",
    "invalid.example.org,refused",
    "3395856CE81F2B7382DEE72602F798B642F14140,a hash",
    "setup.exe,no item",
    ",nothing at all",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed,a wallet",
    "billing[@]example[.]net,=cmd",
  ];
  return Array.from({ length: count }, (_, n) => {
    const row = n % 3 === 2 ? `198.51.100.${n},unlisted` : known[n % known.length];
    return `2026-03-01,${row}`;
  });
}

async function readManifest(path: string): Promise<unknown> {
  const manifest = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
  const {
    run_id: _id,
    command: _command,
    started_at: _start,
    ended_at: _end,
    seconds: _seconds,
    resumed: _resumed,
    output,
    ...rest
  } = manifest;
  const { bytes: _bytes, sha256: _hash, path: _path, ...facts } = output as Record<string, unknown>;
  return { ...rest, output: facts };
}

/** The files of a run into PostgreSQL are called by its table. */
function withoutTable(name: string): string {
  return name.replace(/^repute-.*(\.manifest\.json)$/, "repute$1");
}

/** Names of an export's generations are random. */
function isGeneration(name: string): boolean {
  return name.includes("generations/");
}

/** Text of a file (decompressed by its name) without times of this run. */
export async function readText(path: string): Promise<string> {
  const bytes = await readFile(path);
  const content = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  // Times with milliseconds are this run's; those of the dataset have none.
  return content.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "TIME");
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "bigint" ? `${each}n` : each,
  );
}
