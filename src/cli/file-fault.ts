const causes: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a directory",
  EACCES: "permission denied",
};

/** Why a file could not be read, in words. */
export function fileFault(error: unknown): string {
  const known = causes[(error as NodeJS.ErrnoException | null)?.code ?? ""];
  return known ?? (error instanceof Error ? error.message : String(error));
}
