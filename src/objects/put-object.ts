import { setTimeout as delay } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { parseObjectAddress } from "./address.js";
import { withStore } from "./client.js";
import { statusOf } from "./fault.js";
import { encoded } from "./file-bytes.js";

export interface PutOptions {
  readonly contentType?: string;
  /** Write only if there is no object yet, or only over the version with this ETag. */
  readonly only?: "new" | { readonly etag: string };
}

/** Times to repeat a conditional write that met another one. */
const maxConflicts = 5;

/**
 * Writes a small object.
 *
 * @returns false if the condition does not hold
 * @throws ReputeError
 */
export async function putObject(
  address: string,
  content: string,
  { contentType, only }: PutOptions = {},
): Promise<boolean> {
  const { bucket, key } = parseObjectAddress(address);
  const Body = Buffer.from(content);
  let condition = only === "new" ? { IfNoneMatch: "*" } : only && { IfMatch: only.etag };
  return withStore(address, "write", async ({ sdk, client }) => {
    for (let conflicts = 0; ; conflicts++) {
      const command = new sdk.PutObjectCommand({
        Bucket: bucket,
        Key: key,
        Body,
        ...(contentType === undefined ? {} : { ContentType: contentType }),
        ChecksumCRC32: encoded(crc32(Body)),
        ...condition,
      });
      const status = await client.send(command).then(
        () => null,
        (error: Error) => {
          // The version to replace is gone.
          const status = error.name === "NoSuchKey" ? 412 : statusOf(error);
          if (condition === undefined || !conditional.has(status ?? 0)) throw error;
          return status;
        },
      );
      if (status === null) return true;
      // The store knows no conditions.
      if (status === 501) condition = undefined;
      else if (status !== 409 || conflicts === maxConflicts) return false;
      await delay(50 * 2 ** conflicts);
    }
  });
}

/** Answers to a condition: another write is in progress, it does not hold, or it is not supported. */
const conditional: ReadonlySet<number> = new Set([409, 412, 501]);
