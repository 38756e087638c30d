import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, readdir, readlink, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { queryDuckdb } from "../io/output/tables/warehouse-readers.js";
import { expect } from "vitest";
import { startService, type Service } from "../../src/service/service.js";
import type { Responder } from "../../src/service/responder.js";
import { preload } from "./crash-copies.js";
import { HurriedClock } from "./hurried-clock.js";
import { runRepute, type RunReputeResult } from "./run-repute.js";
import { program } from "./shell.js";

/** Open requests, which may be repeated after a kill. */
const concurrency = 4;

export interface CrashCase {
  /**
   * `-o` and further arguments; paths are relative to the run's folder. `RUN` is the name of the run,
   * for what is not in its folder.
   */
  readonly args: readonly string[];
  /**
   * The run takes over the answers of an interrupted one over another dump; it is killed until it
   * asks for more.
   */
  readonly takesOver?: boolean;
  /**
   * The run is killed only once all lookups are answered: its rows are staged like those of another
   * case, and only publishing differs.
   */
  readonly publishing?: boolean;
  /** The run reads a Parquet file with typed columns instead of text. */
  readonly typed?: boolean;
  /** Arguments of a retry, which is killed; the rows of the run before it have all failed. */
  readonly retry?: readonly string[];
  /** Database whose commits count as operations, or objects whose writes do. */
  readonly commits?: "duckdb" | "objects" | "postgres";
  /** Copies the database at each operation, if it is not in the run's folder. */
  readonly database?: KeptDatabase;
  /** Everything the run wrote, with the values that differ from run to run replaced. */
  readonly read: (folder: string, run: string) => Promise<unknown>;
}

interface KeptDatabase {
  /** Command that copies it; `POINT` in its last argument is the number of the operation. */
  readonly keep: readonly string[];
  /** Returns it to what it was at an operation; 0 is before everything. */
  readonly restore: (point: number) => Promise<unknown>;
}

/** The result of a run, for comparison. */
interface Outcome {
  readonly code: number | null;
  readonly written: unknown;
  readonly manifest: unknown;
  readonly files: readonly string[];
}

export interface CrashReport {
  /** Operations at which a run could be killed. */
  readonly points: number;
  /** Points from which a run was resumed. */
  readonly resumed: number;
  /** What went wrong at each point, as sentences; empty if nothing did. */
  readonly faults: readonly string[];
}

/**
 * Kills a run at each operation that changes a file or commits to a database, from the first to the
 * last, resumes it and compares the result with that of an undisturbed run.
 *
 * Instead of killing a process, which takes ten times as long, copies the run's folder (and database)
 * before each operation, and resumes every copy that differs from the next one. A database cannot be
 * copied during a commit, so there a process is killed.
 */
export async function crashEverywhere(folder: string, crashCase: CrashCase): Promise<CrashReport> {
  const bench = await Bench.open(folder, crashCase, "run");
  const before = await bench.requests();
  const expected = await bench.outcome();
  const asked = (await bench.requests()) - before;
  if (crashCase.takesOver === true) expect(expected.manifest).toMatchObject({ took_over: before });
  const faults: string[] = [];
  const note = (point: number, fault: string | null): void => {
    if (fault !== null) faults.push(`killed at operation ${point}: ${fault}`);
  };
  const kill = async (point: number): Promise<void> => {
    const victim = await Bench.open(folder, crashCase, `at${point}`);
    const recent = await victim.killed(point);
    if (recent !== null) {
      const answered = (await victim.requests()) - before;
      note(point, await victim.resumed(expected, asked - answered, recent));
    }
    await victim.close();
  };
  let points = 0;
  let resumed = 0;
  for await (const { answered, recent, isCommitting, isSkipped } of bench.moments()) {
    // Once it asks, a run that took answers over is like any other.
    if (crashCase.takesOver === true && answered > concurrency) break;
    points++;
    if (isSkipped) continue;
    resumed++;
    if (isCommitting) await kill(points);
    else note(points, await bench.resumed(expected, asked - answered, recent));
  }
  await bench.close();
  return { points, resumed, faults };
}

/** The state when a folder was copied. */
interface CopiedMoment {
  /** Lookups that were answered. */
  readonly answered: number;
  /** Those of the last 50 ms, which may not be stored yet. */
  readonly recent: number;
  /** A commit was in progress. */
  readonly isCommitting: boolean;
  /** Beginnings and ends of a database's statements. */
  readonly statements: number;
}

interface Moment extends CopiedMoment {
  /**
   * The next copy is the same (the operation between them, such as an `fsync`, changes nothing), or
   * the case is only about publishing, which has not begun.
   */
  readonly isSkipped: boolean;
}

/** One run in a folder of its own and against a service of its own. */
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
    const bench = new Bench(join(parent, name), crashCase, await startService());
    await bench.#prepare();
    return bench;
  }

  /** Makes the folder of the run, with what an interrupted one has left if it takes that over. */
  async #prepare(): Promise<void> {
    await mkdir(this.#folder);
    const dump = join(this.#folder, "in.csv");
    if (this.#case.takesOver === true) {
      await writeFile(dump, earlierInput);
      const { code, stderr } = await this.#here([...this.#command(), "--max-requests", "12"]);
      if (code !== 75) throw new Error(`the interrupted run ended with ${code}: ${stderr}`);
    }
    await writeFile(dump, this.#case.retry === undefined ? input : shortInput);
    if (this.#case.typed === true) {
      const typed =
        "*, row_number() OVER () AS n, n::DECIMAL(9,2) AS amount, DATE '2024-01-01' + n::INTEGER AS day";
      const from = `read_csv('${dump}', all_varchar = true, header = true, delim = ',', null_padding = true, strict_mode = false)`;
      await queryDuckdb(`COPY (SELECT ${typed} FROM ${from}) TO '${this.#folder}/in.parquet'`);
    }
    if (this.#case.retry === undefined) return;
    const failing = ["--intel-url", `${this.#service.intelUrl}x`, "--retries", "0"];
    const accepting = ["--max-failed", "100%", "--quiet"];
    const enrich = ["enrich", this.#input, ...this.#named(this.#case.args)];
    const { code, stderr } = await this.#here([...enrich, ...failing, ...accepting]);
    if (code !== 3) throw new Error(`the run to retry ended with ${code}: ${stderr}`);
  }

  /** Requests received by the service. */
  async requests(): Promise<number> {
    const stats = await fetch(`${this.#service.opsUrl}/_local/stats`);
    const { requests } = (await stats.json()) as ReturnType<Responder["stats"]>;
    return (requests.query?.total ?? 0) + (requests["quick-check"]?.total ?? 0);
  }

  /** Runs the program once, then restores the folder as it was at each operation in turn. */
  async *moments(): AsyncGenerator<Moment> {
    const { database, publishing } = this.#case;
    await database?.restore(0);
    await rm(this.#folder, { recursive: true });
    await this.#prepare();
    const copies = `${this.#folder}-copies`;
    await mkdir(copies);
    await this.#program({
      CRASH_COPIES: copies,
      ...(database === undefined ? {} : { CRASH_KEEP: JSON.stringify(database.keep) }),
    });
    const lines = (await readFile(join(copies, "moments"), "utf8")).trimEnd().split("\n");
    const moments = lines.map((line) => JSON.parse(line) as CopiedMoment);
    const copyOf = (index: number): string => join(copies, String(index + 1));
    const contents = await Promise.all(moments.map((_, index) => contentsOf(copyOf(index))));
    for (const [index, moment] of moments.entries()) {
      const next = moments[index + 1];
      const isSame =
        contents[index] === contents[index + 1] && moment.statements === next?.statements;
      const isRepeated = isSame && !moment.isCommitting && !next.isCommitting;
      const isStaging = publishing === true && moment.answered < (moments.at(-1)?.answered ?? 0);
      const isSkipped = isRepeated || isStaging;
      await rm(this.#folder, { recursive: true });
      await rename(copyOf(index), this.#folder);
      if (!moment.isCommitting && !isSkipped) await database?.restore(index + 1);
      yield { ...moment, isSkipped };
    }
    await rm(copies, { recursive: true });
  }

  /**
   * Runs the program and kills it at an operation. Returns the number of answers that may not be stored
   * yet; null if it ended before.
   */
  async killed(point: number): Promise<number | null> {
    const { signal, stderr } = await this.#program({ CRASH_AT: String(point) });
    if (signal !== "SIGKILL") return null;
    return Number(/^recent answers: (\d+)$/m.exec(stderr)?.[1]);
  }

  /** Resumes the run and says what is wrong with the result, or returns null. */
  async resumed(expected: Outcome, unasked: number, recent: number): Promise<string | null> {
    const before = await this.requests();
    const outcome = await this.outcome(["--resume"]);
    for (const name of ["code", "written", "manifest", "files"] as const) {
      const [is, was] = [jsonOf(outcome[name]), jsonOf(expected[name])];
      if (is !== was) return `${name} is ${is.slice(0, 2000)} instead of ${was.slice(0, 2000)}`;
    }
    const repeated = (await this.requests()) - before - unasked;
    return repeated <= concurrency + recent ? null : `${repeated} completed lookups were repeated`;
  }

  /** The result of an undisturbed run, in this process and without pauses. */
  async outcome(flags: readonly string[] = []): Promise<Outcome> {
    const own = this.#case.takesOver === true ? ["--resume"] : flags;
    const { code, stderr } = await this.#here([...this.#command(), ...own]);
    if (code !== 0 && code !== 3) throw new Error(`the run ended with ${code}: ${stderr}`);
    const written = await this.#case.read(this.#folder, basename(this.#folder));
    // Names of an export's generations are random.
    const files = (await readdir(this.#folder, { recursive: true })).sort();
    const manifest = files.find((name) => name.endsWith("manifest.json"));
    return {
      code,
      written,
      manifest: await readManifest(join(this.#folder, manifest ?? "")),
      files: files.filter((name) => !name.includes("generations/")).map(withoutRun),
    };
  }

  async close(): Promise<void> {
    await this.#service.close();
    await rm(this.#folder, { recursive: true });
  }

  #here(args: readonly string[]): Promise<RunReputeResult> {
    const [cwd, env, clock] = [this.#folder, this.#environment(), new HurriedClock()];
    return runRepute(args, { cwd, env, clock });
  }

  #command(): string[] {
    const { args, retry } = this.#case;
    const service = ["--intel-url", this.#service.intelUrl, "--partial-retries", "1", "--quiet"];
    const pace = ["--concurrency", String(concurrency), "--rate", "900/s"];
    const command = retry === undefined ? ["enrich", this.#input, ...args] : ["retry", ...retry];
    return [...this.#named(command), ...service, ...pace];
  }

  get #input(): string {
    return this.#case.typed === true ? "in.parquet" : "in.csv";
  }

  #named(args: readonly string[]): string[] {
    return args.map((each) => each.replace("RUN", basename(this.#folder)));
  }

  #environment(): Record<string, string> {
    return { XDG_STATE_HOME: join(this.#folder, "..", "home"), REPUTE_BOGONS: "ask" };
  }

  /** Runs the program in a separate process, to the signal that ends it or to its exit. */
  async #program(crash: Readonly<Record<string, string>>) {
    const { commits, takesOver } = this.#case;
    const args = [...this.#command(), ...(takesOver === true ? ["--resume"] : [])];
    const env = { ...process.env, ...this.#environment(), ...crash };
    const child = spawn(process.execPath, ["--require", preload, program, ...args], {
      cwd: this.#folder,
      env: commits === undefined ? env : { ...env, CRASH_COMMITS: commits },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
    const stderr = await text(child.stderr);
    const [code, signal] = await closed;
    if (signal !== null || code === 0 || code === 3) return { signal, stderr };
    throw new Error(`the run ended with ${code}: ${stderr}`);
  }
}

/** A hash of everything in a folder except times. */
async function contentsOf(folder: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = new Map(entries.map((entry) => [join(entry.parentPath, entry.name), entry]));
  for (const [path, entry] of [...paths].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const content = entry.isFile()
      ? await readFile(path)
      : entry.isSymbolicLink()
        ? await readlink(path)
        : "";
    hash.update(`${relative(folder, path)}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/** 50 rows: items and answers of all kinds, duplicates, rows that are too short or too long. */
const input = dumpOf(rows(50));

/** So few items that failures do not look like a wrong address. */
const shortInput = dumpOf(rows(24));

/** A dump with some of the same items. */
const earlierInput = dumpOf(
  rows(50)
    .filter((row) => row.endsWith("unlisted"))
    .toReversed(),
);

function dumpOf(rows: readonly string[]): string {
  return ["seen,indicator,note", ...rows].join("\n");
}

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
    input: read,
    ...rest
  } = manifest;
  // The size of an earlier output depends on its times; the name of a table, on the run.
  const { bytes: _read, path: _from, ...facing } = read as Record<string, unknown>;
  const { bytes: _bytes, sha256: _hash, path: _path, ...facts } = output as Record<string, unknown>;
  return { ...rest, input: facing, output: facts };
}

/** The name of a file without the table, date and identifier of its run. */
function withoutRun(name: string): string {
  return name
    .replace(/^repute-.*(\.manifest\.json)$/, "repute$1")
    .replace(/\d{4}-\d\d-\d\d/, "DATE")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, "RUN");
}

/** The text of a file (decompressed if named so) without times of this run. */
export async function readText(path: string): Promise<string> {
  const bytes = await readFile(path);
  const content = (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  // Times with milliseconds come from this run; those of the dataset have none.
  return content.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "TIME");
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "bigint" ? `${each}n` : each,
  );
}
