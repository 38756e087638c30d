import { existsSync } from "node:fs";
import { cp, mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ReputeError } from "../../src/core/errors.js";
import { enrich } from "../../src/jobs/enrich/execute.js";
import type { Manifest } from "../../src/core/manifest.js";
import type { AnsweringServer } from "./answering-server.js";
import { comparableRows } from "./comparable-rows.js";
import { startRepute } from "./run-repute.js";
import { readParquet } from "../io/output/tables/warehouse-readers.js";
import { jobHere } from "./job-here.js";
import { queriesTo } from "./workspace.js";

/** A run that was killed after a checkpoint, and its expected result. */
export interface KilledFixture {
  /** Where it ran. Damaged copies are resumed in the same place, because paths identify a run. */
  readonly folder: string;
  /** Name of its output. */
  readonly output: string;
  readonly server: AnsweringServer;
  /** Files that it left, by their paths in the folder: its rows first, then those of its state. */
  readonly files: readonly string[];
  /** Rows by status of an undisturbed run. */
  readonly statuses: Manifest["statuses"];
  /** The rows of an undisturbed run, without values that may differ. */
  readonly rows: readonly string[];
}

/** The result of resuming a damaged run. */
export interface Resumed {
  readonly manifest: Manifest | null;
  readonly error: unknown;
  readonly warnings: readonly string[];
}

export interface FixtureOptions {
  readonly folder: string;
  readonly output: string;
  readonly server: AnsweringServer;
  /** Rows before the point at which the program is killed; 800 follow. */
  readonly rows: number;
}

const distinct = 300;
const behind = 100;

/** Kills a run of the program after a checkpoint, and keeps a copy of what it left. */
export async function killedFixture(options: FixtureOptions): Promise<KilledFixture> {
  const { output, server } = options;
  const folder = join(options.folder, "run");
  await mkdir(folder);
  await writeFile(join(folder, "in.csv"), inputOf(options.rows));
  const calm = await enrichIn({ folder, output: `calm.${output}`, server }, false);
  const rows = await rowsOf(join(folder, `calm.${output}`));

  const last = server.total + distinct + behind / 2;
  server.onRequest = (total) => total < last;
  const paths = [join(folder, "in.csv"), "-o", join(folder, output)];
  const { child, result } = startRepute(["enrich", ...paths, ...queriesTo(server), "--quiet"]);
  const left = async () => filesLeft(folder, output);
  // The rows in front of the first unanswered one are written, and a checkpoint is saved every 5,000.
  for (let before = -1, size = 0; size === 0 || size !== before;) {
    await delay(300);
    [before, size] = [size, await sizeOf(join(folder, (await left())[0] ?? ""))];
  }
  child.kill("SIGKILL");
  await result;
  server.onRequest = () => true;
  const files = await left();
  await cp(folder, keptFolder(folder), { recursive: true });
  const { statuses } = calm;
  return { folder, output, server, files, statuses, rows };
}

/** What a run has left that another one relies on. The manifest in its state is for readers. */
async function filesLeft(folder: string, output: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = names
    .filter((entry) => entry.isFile() && entry.name !== "manifest.json")
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  const isRows = (path: string): boolean => path.endsWith(".part");
  const own = paths.filter((path) => path.startsWith(`${output}.`));
  return [...own.filter(isRows), ...own.filter((path) => !isRows(path)).toSorted()];
}

async function sizeOf(path: string): Promise<number> {
  const facts = await stat(path).catch(() => null);
  return facts?.isFile() === true ? facts.size : 0;
}

function keptFolder(folder: string): string {
  return join(dirname(folder), "kept");
}

/** Restores what the killed run left. */
export async function restore({ folder, output }: KilledFixture): Promise<void> {
  for (const end of ["", ".part", ".manifest.json", ".state"]) {
    await rm(join(folder, output + end), { recursive: true, force: true });
  }
  for (const name of [`${output}.part`, `${output}.state`]) {
    const kept = join(keptFolder(folder), name);
    if (existsSync(kept)) await cp(kept, join(folder, name), { recursive: true });
  }
}

/** Resumes the run in the fixture's folder, in this process. */
export async function resumeHere(fixture: KilledFixture): Promise<Resumed> {
  const warnings: string[] = [];
  try {
    const manifest = await enrichIn(fixture, true, (message) => void warnings.push(message));
    return { manifest, error: null, warnings };
  } catch (error) {
    return { manifest: null, error, warnings };
  }
}

/** Says what is wrong with the result of resuming a damaged run, or returns null. */
export async function faultOf(
  { folder, output, statuses, rows }: KilledFixture,
  { manifest, error }: Resumed,
): Promise<string | null> {
  if (manifest === null) {
    if (!(error instanceof ReputeError)) return `unexpected error: ${String(error)}`;
    if (!error.message.includes(folder)) return `names no file: ${error.message}`;
    return /--(?:restart|resume)/.test(error.hint ?? "")
      ? null
      : `names no remedy: ${error.message}`;
  }
  const counted = JSON.stringify(manifest.statuses);
  if (counted !== JSON.stringify(statuses)) return `counts ${counted}`;
  return isDeepStrictEqual(await rowsOf(join(folder, output)), rows) ? null : "has other rows";
}

const kinds = ["flip", "flip", "zero", "cut", "append"] as const;

/** A way to damage a file, with its place. */
export interface DamageDone {
  readonly kind: (typeof kinds)[number] | "none";
  readonly at: number;
}

/** Damages a file as the random numbers decide. A range that is already zero stays unchanged. */
export async function damageFile(path: string, random: () => number): Promise<DamageDone> {
  const kind = kinds[Math.floor(random() * kinds.length)] ?? "flip";
  const { size } = await stat(path);
  const at = Math.floor(random() * size);
  const handle = await open(path, "r+");
  try {
    if (kind === "cut") await handle.truncate(at);
    else if (kind === "append")
      await handle.write(Buffer.alloc(1 + (at % 5_000), 0x7b), 0, null, size);
    else {
      const length = kind === "flip" ? 1 : Math.min(size - at, 1 + Math.floor(random() * 512));
      const bytes = Buffer.alloc(length);
      await handle.read(bytes, 0, length, at);
      const before = Buffer.from(bytes);
      if (kind === "zero") bytes.fill(0);
      else bytes[0]! ^= 1 + Math.floor(random() * 255);
      if (bytes.equals(before)) return { kind: "none", at };
      await handle.write(bytes, 0, length, at);
      return { kind, at: at + bytes.findIndex((byte, index) => byte !== before[index]) };
    }
  } finally {
    await handle.close();
  }
  return { kind, at: kind === "append" ? size : at };
}

function inputOf(rows: number): string {
  const lines = ["n,domain"];
  for (let n = 0; n < rows; n++) {
    lines.push(`${n},${n % 17 === 3 ? "setup.exe" : `host-${n % distinct}.example.com`}`);
  }
  for (let n = 0; n < 800; n++) lines.push(`${rows + n},late-${n % behind}.example.com`);
  return `${lines.join("\n")}\n`;
}

function enrichIn(
  { folder, output: name, server }: Pick<KilledFixture, "folder" | "output" | "server">,
  resume: boolean,
  onWarning: (message: string) => void = () => undefined,
): Promise<Manifest> {
  const [output, path] = [join(folder, name), join(folder, "in.csv")];
  const asked = { intelUrl: server.url, lookups: "query", rate: "1000000/s" };
  return enrich(jobHere({ settings: { ...asked, output, resume }, input: { path }, onWarning }));
}

/** The rows of an output without values that may differ: time and source of the answer. */
async function rowsOf(path: string): Promise<readonly string[]> {
  if (path.endsWith(".parquet")) {
    return (await readParquet(path)).map((row) =>
      JSON.stringify(
        { ...row, rep_run_id: "", rep_loaded_at: "", rep_source: "", rep_looked_up_at: "" },
        (_, value: unknown) => (typeof value === "bigint" ? String(value) : value),
      ),
    );
  }
  return comparableRows(await readFile(path), path);
}
