import { objectAt } from "./address.js";
import { statusOf, withStore } from "./client.js";

/** How long a store may take to answer, in milliseconds. */
const patienceMs = 20_000;

/**
 * Checks that an object can be written, without writing it: begins a multipart upload, which needs
 * the same permission, and gives it up.
 *
 * @throws UsageError `object_credentials`, `object_region`, `object_bucket`; FatalError
 *   `object_denied`, `object_store`
 */
export async function checkObjectWritable(address: string): Promise<void> {
  const at = objectAt(address);
  await withStore(address, "write", async ({ sdk, client }) => {
    const within = { abortSignal: AbortSignal.timeout(patienceMs) };
    try {
      const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(at), within);
      const upload = new sdk.AbortMultipartUploadCommand({ ...at, UploadId });
      // Nobody sees it, and the store's rules remove it.
      await client.send(upload, within).catch(() => undefined);
    } catch (error) {
      if (statusOf(error) !== notImplemented) throw error;
    }
  });
}

const notImplemented = 501;
