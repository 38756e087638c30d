import { crc32 } from "node:zlib";

/** What stands behind the last member: the CRC-32 of all bytes before it. */
const seal = /,"checksum":"([0-9a-f]{8})"\}\n?$/;

/** JSON of an object with at least one member, with a checksum of itself as its last member. */
export function sealJson(value: object): string {
  const body = JSON.stringify(value).slice(0, -1);
  return `${body},"checksum":"${checksumOf(body)}"}`;
}

/** Reads what `sealJson` wrote; null when any of it has changed. */
export function openSealedJson(text: string): Readonly<Record<string, unknown>> | null {
  const found = seal.exec(text);
  if (found === null) return null;
  const body = text.slice(0, found.index);
  if (checksumOf(body) !== found[1]) return null;
  const { checksum: _checksum, ...value } = JSON.parse(`${body},"checksum":""}`) as Readonly<
    Record<string, unknown>
  >;
  return value;
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
