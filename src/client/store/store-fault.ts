import { accessSync, constants } from "node:fs";
import { faultReason } from "../../core/files/system-fault.js";

/** Another process holds the lock; a retry may succeed. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === codes.busy || codeOf(error) === codes.locked;
}

/**
 * The file is damaged. A rejected statement (code 1) or value means that its tables have changed; a
 * file that is writable but read-only to SQLite has a header of an unknown version.
 */
export function isCorrupt(path: string, error: unknown): boolean {
  const code = codeOf(error);
  if (code === codes.readOnly) return isWritable(path);
  return damaged.has(code);
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Why SQLite or the system refused an operation, as the end of a sentence. */
export function storeFault(error: unknown): string {
  return reasons[codeOf(error) ?? 0] ?? faultReason(error);
}

export const corruptCode = 11;

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const codes = {
  error: 1,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: corruptCode,
  full: 13,
  constraint: 19,
  notDatabase: 26,
} as const;

const damaged: ReadonlySet<number | null> = new Set([
  codes.corrupt,
  codes.notDatabase,
  codes.error,
  codes.constraint,
]);

/** SQLite's primary result code; null for any other error. */
function codeOf(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : null;
}

const reasons: Readonly<Record<number, string>> = {
  [codes.busy]: "another process has locked it for too long",
  [codes.locked]: "another process has locked it for too long",
  [codes.readOnly]: "it is read-only",
  [codes.ioError]: "the disk reports an error",
  [codes.full]: "the disk is full",
};
