import { UsageError } from "../../core/errors.js";

interface ObjectAddress {
  readonly bucket: string;
  readonly key: string;
}

/** Whether a name is the address of an object: `s3://BUCKET/KEY`. */
export function isObjectAddress(name: string): boolean {
  return /^s3:/i.test(name);
}

/** Whether a name is an address that stands for objects: one that ends in `/`, or a bucket. */
export function isObjectPrefix(name: string): boolean {
  return isObjectAddress(name) && (name.endsWith("/") || /^s3:\/\/[^/?#]+$/i.test(name));
}

/** Parses the address of an object, or one that ends in `/`. @throws UsageError `bad_object_address` */
export function parseObjectAddress(address: string, isPrefix = false): ObjectAddress {
  const [, bucket, key] = /^s3:\/\/([a-z0-9][a-z0-9._-]{1,62})\/([^?#]*)$/i.exec(address) ?? [];
  if (bucket !== undefined && key !== undefined && (key !== "" || isPrefix)) return { bucket, key };
  const [bare = ""] = address.split(/[?#]/, 1);
  throw new UsageError("bad_object_address", `${bare} is not the address of an object`, {
    hint: "write s3://BUCKET/KEY; a bucket has a name of 3 to 63 characters, and a key cannot contain ? or # here",
  });
}

export function objectAddress({ bucket, key }: ObjectAddress): string {
  return `s3://${bucket}/${key}`;
}
