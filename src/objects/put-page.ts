import { crc32 } from "node:zlib";
import { parseObjectAddress } from "./address.js";
import { withStore } from "./client.js";
import { encoded } from "./file-bytes.js";

/** Writes an HTML page as an object. @throws ReputeError */
export async function putPage(address: string, html: string): Promise<void> {
  const { bucket, key } = parseObjectAddress(address);
  const Body = Buffer.from(html);
  await withStore(address, "write", ({ sdk, client }) =>
    client.send(
      new sdk.PutObjectCommand({
        Bucket: bucket,
        Key: key,
        Body,
        ContentType: "text/html; charset=utf-8",
        ChecksumCRC32: encoded(crc32(Body)),
      }),
    ),
  );
}
