import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";

/** The process that holds a lock. */
export interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the process started, in the kernel's ticks since boot; null where it is not told. */
  readonly startedAt: string | null;
  /** Which boot of the machine; a number of a process means nothing after another boot. */
  readonly boot: string | null;
  readonly token: string;
}

/** Whether a process is still there; of another host it is taken to be. */
export function isAlive(holder: Holder): boolean {
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
export function thisProcess(): Omit<Holder, "token"> {
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
