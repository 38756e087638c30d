import { parseObjectPrefix } from "./address.js";
import { withStore } from "./client.js";

/**
 * Lists the keys that begin with the key of an address.
 *
 * @param within lists those without a further `/`, and the others as `FOLDER/`. Default all
 * @returns them without that beginning
 */
export async function listObjects(
  prefix: string,
  within: "folder" | "all" = "all",
): Promise<readonly string[]> {
  const { bucket, key } = parseObjectPrefix(prefix);
  const query = { Bucket: bucket, Prefix: key, Delimiter: within === "all" ? undefined : "/" };
  return withStore(prefix, "read", async ({ sdk, client }) => {
    const names: string[] = [];
    for (let token: string | undefined; ;) {
      const page = await client.send(
        new sdk.ListObjectsV2Command({ ...query, ContinuationToken: token }),
      );
      for (const { Key = "" } of page.Contents ?? []) names.push(Key.slice(key.length));
      for (const { Prefix = "" } of page.CommonPrefixes ?? []) names.push(Prefix.slice(key.length));
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (token === undefined) return names;
    }
  });
}
