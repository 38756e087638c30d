import { crc32 } from "node:zlib";
import { parseObjectAddress } from "./address.js";
import { withStore } from "./client.js";
import { writeIf } from "./conditional-write.js";
import { encoded } from "./file-bytes.js";

export interface PutOptions {
  readonly contentType?: string;
  /** Write only if there is no object yet. @default false */
  readonly onlyNew?: boolean;
}

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
  return withStore(address, "write", ({ sdk, client }) =>
    writeIf(onlyNew ? null : undefined, (condition) =>
      client.send(
        new sdk.PutObjectCommand({
          Bucket: bucket,
          Key: key,
          Body,
          ...(contentType === undefined ? {} : { ContentType: contentType }),
          ChecksumCRC32: encoded(crc32(Body)),
          ...condition,
        }),
      ),
    ),
  );
}
