import { UsageError } from "./errors.js";

/**
 * Loads an optional dependency on demand.
 * @param name the package, for messages
 * @param what needs it
 * @throws UsageError `driver_missing` if it isn't installed, `driver_unusable` if it doesn't run on
 *   this machine
 */
export async function loadDriver<T>(
  name: string,
  load: () => Promise<T>,
  what = "this",
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const text = error instanceof Error ? error.message : String(error);
    if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
      throw new UsageError("driver_missing", `${what} needs the package ${name}`, {
        cause: error,
        hint: `install it with: npm install ${packagesWith(name)}`,
      });
    }
    throw new UsageError("driver_unusable", `the package ${name} cannot be loaded: ${text}`, {
      cause: error,
      hint: `reinstall it with: npm install ${name}`,
    });
  }
}

/** The packages of one output, which are of no use alone. */
const families = [
  ["pg", "pg-copy-streams"],
  ["hyparquet-writer", "hyparquet"],
  ["bullmq", "ioredis"],
  ["@bull-board/api", "@bull-board/fastify"],
];

function packagesWith(name: string): string {
  return (families.find((family) => family.includes(name)) ?? [name]).join(" ");
}
