import { join } from "node:path";
import { awaitLock, type Unlock } from "../../core/files/run-lock.js";

/** How long other processes may do their things before this one gives up, in milliseconds. */
const patienceMs = 10_000;

/**
 * Does something with the LMDB environments in a folder while no other process opens, closes or
 * writes to them. Reading needs no gate.
 *
 * LMDB's own locks are not enough. Who closes as the last one destroys those that whoever opens at
 * that moment goes on with; who is killed while he opens as the first leaves them half made; and of
 * what several processes write at the same time lmdb-js 3.5 loses transactions, or ends with
 * SIGSEGV (eight processes of 400 small transactions: in one of four rounds).
 *
 * @param unguarded true: goes on without it where it cannot be made, as on a read-only disk
 * @throws Error when another process does not leave it
 */
export async function throughGate<T>(
  folder: string,
  work: () => Promise<T>,
  { unguarded = false } = {},
): Promise<T> {
  const leave = await enter(folder, unguarded);
  try {
    return await work();
  } finally {
    // One that is left behind is taken over once this process has ended.
    await leave().catch(nothing);
  }
}

async function enter(folder: string, unguarded: boolean): Promise<Unlock> {
  try {
    const unlock = await awaitLock(gateOf(folder), patienceMs);
    if (unlock !== null) return unlock;
  } catch (error) {
    if (unguarded) return nothing;
    throw error;
  }
  throw stuck(folder);
}

function gateOf(folder: string): string {
  return join(folder, "gate");
}

function stuck(folder: string): Error {
  const gate = gateOf(folder);
  return new Error(`another process is writing to it and does not go on (it is named in ${gate})`);
}

function nothing(): Promise<void> {
  return Promise.resolve();
}
