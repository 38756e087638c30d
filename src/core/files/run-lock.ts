import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UsageError } from "../errors.js";
import { hostname } from "node:os";

/** A takeover takes microseconds; one that is older was interrupted. */
const takeoverStaleMs = 10_000;

/** Nobody takes longer to write down who holds a lock. */
const writingMs = 100;

/** Gives a lock back. */
export type Unlock = () => Promise<void>;

/**
 * Keeps two runs from writing one output. A lock whose process is dead is taken over.
 *
 * @throws UsageError `output_locked` naming the process that holds it
 */
export async function takeLock(path: string): Promise<Unlock> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const taken = tryLock(path);
    if (typeof taken === "function") return asPromised(taken);
    if (taken !== null) throw locked(path, taken);
    await delay(20);
  }
  throw new UsageError("output_locked", `cannot take the lock ${path}: other runs are taking it`);
}

/** A failure rejects. */
function asPromised(unlock: () => void): Unlock {
  return () => new Promise((resolve) => resolve(unlock()));
}

/** Removes what processes that were killed while they took a lock left beside it. */
export async function sweepLocks(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(prefix)) continue;
    const left = join(dirname(path), name);
    const holder = readHolder(left);
    if (holder === "gone" || (isHolder(holder) && isAlive(holder))) continue;
    const { mtimeMs = 0 } = statSync(left, { throwIfNoEntry: false }) ?? {};
    // Half a file may be that of a process that is just writing it.
    if (Date.now() - mtimeMs > writingMs) rmSync(left, { force: true });
  }
}

/** Takes a lock; otherwise says who holds it, or null where others are about to take it. */
function tryLock(path: string): (() => void) | Holder | null {
  const mine: Holder = { ...thisProcess(), token: randomUUID() };
  if (create(path, mine)) return () => release(path, mine);
  const holder = readHolder(path);
  if (holder === "gone") return null;
  if (holder !== "broken" && isAlive(holder)) return holder;
  return takeOver(path, holder, mine) ? () => release(path, mine) : null;
}

function locked(path: string, holder: Holder): UsageError {
  const where = holder.host === thisProcess().host ? "" : ` on ${holder.host}`;
  return new UsageError(
    "output_locked",
    `another run (process ${holder.pid}${where}) is writing this output`,
    { hint: `wait for it, or write elsewhere; if it is surely dead, delete ${path}` },
  );
}

function create(path: string, holder: Holder): boolean {
  // Complete under its name at once: a reader never sees a lock without its holder.
  const fresh = `${path}.${holder.token}`;
  try {
    writeFileSync(fresh, JSON.stringify(holder), { mode: 0o600 });
    linkSync(fresh, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Only one process at a time takes a dead one's lock over, and only the lock that it looked at. */
function takeOver(path: string, dead: Holder | "broken", mine: Holder): boolean {
  const gate = `${path}.takeover`;
  const fresh = `${path}.${mine.token}`;
  let handle: number;
  try {
    handle = openSync(gate, "wx", 0o600);
  } catch {
    const { mtimeMs = Date.now() } = statSync(gate, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs > takeoverStaleMs) rmSync(gate, { force: true });
    return false;
  }
  try {
    const still = readHolder(path);
    const same =
      still === dead || (isHolder(still) && isHolder(dead) && still.token === dead.token);
    if (!same) return false;
    writeFileSync(fresh, JSON.stringify(mine), { mode: 0o600 });
    renameSync(fresh, path);
    return true;
  } finally {
    rmSync(fresh, { force: true });
    closeSync(handle);
    rmSync(gate, { force: true });
  }
}

function release(path: string, mine: Holder): void {
  const holder = readHolder(path);
  if (isHolder(holder) && holder.token === mine.token) rmSync(path, { force: true });
}

function isHolder(holder: Holder | "gone" | "broken"): holder is Holder {
  return typeof holder === "object";
}

function readHolder(path: string): Holder | "gone" | "broken" {
  try {
    const holder = JSON.parse(readFileSync(path, "utf8")) as Partial<Holder> | null;
    return typeof holder?.pid === "number" && typeof holder.token === "string"
      ? (holder as Holder)
      : "broken";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "gone" : "broken";
  }
}

/** The process that holds a lock. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the process started, in the kernel's ticks since boot; null where it is not told. */
  readonly startedAt: string | null;
  /** Which boot of the machine; a number of a process means nothing after another boot. */
  readonly boot: string | null;
  readonly token: string;
}

/** Whether a process is still there; of another host it is taken to be. */
function isAlive(holder: Holder): boolean {
  if (holder.host !== hostname()) return true;
  const here = thisProcess();
  if (holder.boot !== null && here.boot !== null && holder.boot !== here.boot) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  if (isUnreaped(holder.pid)) return false;
  // The number may have gone to another process since.
  const started = startOf(holder.pid);
  return holder.startedAt === null || started === null || started === holder.startedAt;
}

/** This process as the holder of a lock. */
function thisProcess(): Omit<Holder, "token"> {
  return {
    pid: process.pid,
    host: hostname(),
    startedAt: startOf(process.pid),
    boot: readProc("/proc/sys/kernel/random/boot_id"),
  };
}

/** Field 22 of /proc/PID/stat (proc(5)). */
function startOf(pid: number): string | null {
  return statOf(pid)?.[19] ?? null;
}

/** Dead, but its parent has not asked how it ended, which in a container may take for ever. */
function isUnreaped(pid: number): boolean {
  const state = statOf(pid)?.[0];
  if (state !== "Z" && state !== "X") return false;
  try {
    // Threads that have not ended yet may still write.
    return readdirSync(`/proc/${pid}/task`).length <= 1;
  } catch {
    return true;
  }
}

/** Fields of /proc/PID/stat from the third on; the name in field 2 may hold spaces and brackets. */
function statOf(pid: number): readonly string[] | null {
  const text = readProc(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ") ?? null;
}

function readProc(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}
