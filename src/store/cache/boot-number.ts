import { readFileSync } from "node:fs";

/**
 * The number by which LMDB tells boots of the machine apart: the hexadecimal digits that begin the
 * kernel's boot id. Null where the system does not say.
 */
export function bootNumber(): bigint | null {
  try {
    const text = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
    const digits = /^[0-9a-f]+/.exec(text)?.[0];
    return digits === undefined ? null : BigInt(`0x${digits}`);
  } catch {
    return null;
  }
}
