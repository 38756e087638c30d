import type { Readable } from "node:stream";
import { UsageError } from "../core/errors.js";
import { objectAt } from "./address.js";
import { withStore } from "./client.js";

/** How long a store may take to answer, in milliseconds. */
const patienceMs = 10_000;

/**
 * Checks before a run that there are credentials, and a bucket for its output. Faults that may have
 * passed when the output is complete, such as a store that is away, are none.
 */
export async function checkStore(address: string): Promise<void> {
  const at = objectAt(address);
  try {
    await withStore(address, "write", async ({ sdk, client }) => {
      // Unlike that to HEAD, the answer names a missing bucket.
      const command = new sdk.GetObjectCommand({ ...at, Range: "bytes=0-0" });
      const abortSignal = AbortSignal.timeout(patienceMs);
      const { Body } = await client.send(command, { abortSignal });
      (Body as Readable | undefined)?.destroy();
    });
  } catch (error) {
    if (error instanceof UsageError) throw error;
  }
}
