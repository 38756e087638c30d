import { parseObjectAddress } from "./address.js";
import { withStore } from "./client.js";

/**
 * Lists the keys that begin with the key of an address.
 *
 * @returns them without that beginning
 * @throws ReputeError
 */
export async function listObjects(prefix: string): Promise<readonly string[]> {
  const { bucket, key } = parseObjectAddress(prefix);
  return withStore(prefix, "read", async ({ sdk, client }) => {
    const names: string[] = [];
    for (let token: string | undefined; ;) {
      const page = await client.send(
        new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: key, ContinuationToken: token }),
      );
      for (const { Key = "" } of page.Contents ?? []) names.push(Key.slice(key.length));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (token === undefined) return names;
    }
  });
}
