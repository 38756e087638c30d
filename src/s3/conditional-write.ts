import { setTimeout as delay } from "node:timers/promises";
import { statusOf } from "./fault.js";

/** The header that makes a write conditional. */
export interface WriteCondition {
  readonly IfMatch?: string;
  readonly IfNoneMatch?: string;
}

/** Times to repeat a conditional write that met another one. */
const maxConflicts = 5;

/**
 * Writes an object if it is still the version that may be replaced. A store that knows no conditions
 * (501) gets the write without one.
 *
 * @param replaces ETag of that version; null if there must be none; undefined for any
 * @returns false if there is another version
 * @throws the error of the SDK
 */
export async function writeIf(
  replaces: string | null | undefined,
  write: (condition: WriteCondition) => Promise<unknown>,
): Promise<boolean> {
  let condition: WriteCondition | null =
    replaces === undefined
      ? null
      : replaces === null
        ? { IfNoneMatch: "*" }
        : { IfMatch: replaces };
  for (let conflicts = 0; ; conflicts++) {
    try {
      await write(condition ?? {});
      return true;
    } catch (error) {
      const status = statusOf(error);
      if (condition === null) throw error;
      if (status === 501) condition = null;
      // S3 says so if the version to replace was removed.
      else if (status === 412 || (error as Error).name === "NoSuchKey") return false;
      else if (status !== 409) throw error;
      else if (conflicts === maxConflicts) return false;
      else await delay(50 * 2 ** conflicts);
    }
  }
}
