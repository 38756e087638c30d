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

/** A takeover takes microseconds; an older one was interrupted. */
const takeoverStaleMs = 10_000;

/** How long to try, longer than an interrupted takeover blocks the lock, and time between attempts. */
const trying = { forMs: takeoverStaleMs + 2_000, everyMs: 20 };

/** Writing the holder into a lock takes less. */
const writingMs = 100;

/** Releases a lock. */
export type Unlock = () => Promise<void>;

/**
 * Keeps two runs from writing the same output. Takes over a lock whose process is dead, after 10 s if
 * another process was killed while it did so.
 *
 * @throws UsageError `output_locked`, naming the process that holds it
 */
export async function takeLock(path: string): Promise<Unlock> {
  const untilMs = performance.now() + trying.forMs;
  while (performance.now() < untilMs) {
    const taken = tryLock(path);
    if (typeof taken === "function") return asPromised(taken);
    if (taken !== null) throw locked(path, taken);
    await delay(trying.everyMs);
  }
  throw new UsageError("output_locked", `cannot take the lock ${path}: other runs are taking it`, {
    hint: `run again; if no other run is starting, delete ${gateOf(path)}`,
  });
}

/** Whether a process that runs holds a lock. */
export function isLocked(path: string): boolean {
  const holder = readHolder(path);
  return isHolder(holder) && isAlive(holder);
}

/** Turns an exception into a rejection. */
function asPromised(unlock: () => void): Unlock {
  return () => new Promise((resolve) => resolve(unlock()));
}

/** Removes files left by processes that were killed while they took a lock. */
export async function sweepLocks(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(prefix)) continue;
    const left = join(dirname(path), name);
    const holder = readHolder(left);
    if (holder === "gone" || (isHolder(holder) && isAlive(holder))) continue;
    const { mtimeMs = 0 } = statSync(left, { throwIfNoEntry: false }) ?? {};
    // A broken file may belong to a process that is still writing it.
    if (Date.now() - mtimeMs > writingMs) rmSync(left, { force: true });
  }
}

/** Takes a lock. Otherwise returns its holder, or null if other processes are taking it right now. */
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
  // Linking a complete file ensures that readers never see a lock without its holder.
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

/** Takes over a dead process's lock: one process at a time, and only if the lock is unchanged. */
function takeOver(path: string, dead: Holder | "broken", mine: Holder): boolean {
  const gate = gateOf(path);
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

/** The file of the process that takes over a lock. */
function gateOf(path: string): string {
  return `${path}.takeover`;
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
  /** Start time in kernel ticks since boot; null if unknown. */
  readonly startedAt: string | null;
  /** Boot ID of the machine: process IDs from another boot mean nothing. */
  readonly boot: string | null;
  readonly token: string;
}

/** Whether a process still runs; one on another host is assumed to. */
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
  // The process ID may have been reused.
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

/** Dead but not yet reaped by its parent, which in a container may never happen. */
function isUnreaped(pid: number): boolean {
  const state = statOf(pid)?.[0];
  if (state !== "Z" && state !== "X") return false;
  try {
    // Its remaining threads may still write.
    return readdirSync(`/proc/${pid}/task`).length <= 1;
  } catch {
    return true;
  }
}

/** Fields of /proc/PID/stat from the third; the name in field 2 may contain spaces and brackets. */
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
