import { setTimeout as delay } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { parseObjectAddress } from "./address.js";
import { withStore } from "./client.js";
import { statusOf } from "./fault.js";
import { encoded } from "./file-bytes.js";

export interface PutOptions {
  readonly contentType?: string;
  /** Write only if there is no object yet. @default false */
  readonly onlyNew?: boolean;
}

/** Times to repeat a conditional write that met another one. */
const maxConflicts = 5;

/**
 * Writes a small object.
 *
 * @returns false if there is one already
 * @throws ReputeError
 */
export async function putObject(
  address: string,
  content: string,
  { contentType, onlyNew = false }: PutOptions = {},
): Promise<boolean> {
  const { bucket, key } = parseObjectAddress(address);
  const Body = Buffer.from(content);
  let condition = onlyNew ? { IfNoneMatch: "*" } : undefined;
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
        (error: unknown) => {
          const status = statusOf(error);
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
