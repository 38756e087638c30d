/** Another process holds the database; later it may be free. */
export function isBusy(error: unknown): boolean {
  return codeOf(error) === codes.busy || codeOf(error) === codes.locked;
}

/** The file is not what was written. Statements that SQLite refuses name a table that has changed. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return code === codes.corrupt || code === codes.notDatabase || code === codes.error;
}

/** What SQLite or the system refused, as the end of a sentence. */
export function systemFault(error: unknown): string {
  const code = codeOf(error) ?? (error as NodeJS.ErrnoException | null)?.code ?? "";
  const text = error instanceof Error ? error.message : String(error);
  return causes[code] ?? text;
}

/** Primary result codes (https://www.sqlite.org/rescode.html). */
const codes = {
  error: 1,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  notDatabase: 26,
} as const;

/** SQLite's primary result code; null for an error of something else. */
function codeOf(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  return typeof errcode === "number" ? errcode & 0xff : null;
}

const causes: Readonly<Record<string | number, string>> = {
  [codes.busy]: "another process has locked it for too long",
  [codes.locked]: "another process has locked it for too long",
  [codes.readOnly]: "it cannot be written",
  [codes.ioError]: "the disk reports an error",
  [codes.full]: "the disk is full",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  ENOENT: "the folder does not exist",
  ENOTDIR: "a part of the path is no folder",
  EEXIST: "it is no folder",
};
