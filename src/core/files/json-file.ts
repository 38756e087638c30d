import { open, readFile, rename, rm } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { faultReason } from "./system-fault.js";

/** Writes JSON atomically: after a crash or power cut, readers find the old or the new file. */
export async function writeJsonFile(path: string, value: unknown, rights = 0o644): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, rights);
}

export async function replaceFile(path: string, text: string, rights: number): Promise<void> {
  const fresh = `${path}.new`;
  const handle = await open(fresh, "w", rights);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Reads a JSON file; null if it doesn't exist.
 *
 * @throws SyntaxError, or the read error
 */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export function jsonFileFault(error: unknown): string {
  return error instanceof SyntaxError ? "it is not valid JSON" : faultReason(error);
}

/** The last member of a sealed object: the CRC-32 of all bytes before it. */
const seal = /,"checksum":"([0-9a-f]{8})"\}\n?$/;

/** JSON of a non-empty object, followed by a checksum of itself as its last member. */
export function sealJson(value: object): string {
  const body = JSON.stringify(value).slice(0, -1);
  return `${body},"checksum":"${checksumOf(body)}"}`;
}

/** Reads what `sealJson` wrote; null if anything has changed. */
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
