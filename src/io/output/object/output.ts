import { createHash } from "node:crypto";
import { basename, join, resolve } from "node:path";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../../s3/address.js";
import type { KindOutput, ObjectFile, ParseKind } from "../output.js";

/** A file that is uploaded to object storage. @throws UsageError `bad_object_address` */
export const objectOutput: ParseKind = (name, pattern, parse): KindOutput | null => {
  if (!isObjectAddress(name)) return null;
  const object = objectFile(name, pattern);
  const [before = ""] = /^s3:\/\/[^/]*\//i.exec(name) ?? [];
  const parts = { before, file: name.slice(before.length), after: "" };
  return { ...parse(object.path), name, object, parts };
};

/** @param pattern the address with the words that stand for a run, which names the folder of all runs */
function objectFile(address: string, pattern: string): ObjectFile {
  const { key } = parseObjectAddress(address);
  const folder = objectFolder(pattern);
  return { address, folder, path: join(folder, basename(key)) };
}

function objectFolder(address: string): string {
  const { bucket, key } = parseObjectAddress(address);
  const hash = createHash("sha256").update(objectAddress({ bucket, key })).digest("hex");
  const word = `${bucket}-${basename(key)}`.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80);
  return resolve(`repute-s3-${word}-${hash.slice(0, 8)}`);
}
