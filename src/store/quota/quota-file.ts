import { hash } from "node:crypto";
import type { QuotaEntry } from "./quota-store.js";

/** What is counted for one service. */
export interface QuotaCounts {
  /** Name of a quota → what was taken from it. */
  readonly quotas: Readonly<Record<string, readonly QuotaEntry[]>>;
  /**
   * When a damaged count was found, in milliseconds since 1970; null when none was. Every quota that
   * is not in `quotas` counts as used up at that moment.
   */
  readonly lostMs: number | null;
}

/** More than any quota. */
const everything = Number.MAX_SAFE_INTEGER;

export const nothingCounted: QuotaCounts = { quotas: {}, lostMs: null };

/** What was taken from a quota. */
export function entriesOf({ quotas, lostMs }: QuotaCounts, name: string): readonly QuotaEntry[] {
  const found = Object.hasOwn(quotas, name) ? quotas[name] : undefined;
  if (found !== undefined) return found;
  return lostMs === null ? [] : [{ permits: everything, lastMs: lostMs }];
}

/** Name of the file that holds a service's counts. Addresses of the same service share one. */
export function quotaFileName(service: string): string {
  const { hostname, href } = plainAddress(service);
  const host = hostname.replaceAll(/[^a-z0-9.-]/g, "_").slice(0, 100);
  return `${host}-${hash("sha256", href).slice(0, 16)}.json`;
}

/** Text of a file: the counts as JSON, and on a second line their checksum. */
export function encodeQuotaFile(service: string, { quotas, lostMs }: QuotaCounts): string {
  const body = JSON.stringify({
    format,
    service: plainAddress(service).origin,
    lost_ms: lostMs,
    quotas,
  });
  return `${body}\n${checksum(body)}\n`;
}

/** Reads a file's text; null when it is not what was written. */
export function parseQuotaFile(text: string): QuotaCounts | null {
  const [body = "", sum, ...rest] = text.split("\n");
  if (sum !== checksum(body) || rest.join("\n") !== "") return null;
  const found = JSON.parse(body) as { format: number; lost_ms: number | null } & QuotaCounts;
  return found.format === format ? { quotas: found.quotas, lostMs: found.lost_ms } : null;
}

/** Changes when the file is laid out differently. */
const format = 1;

function checksum(body: string): string {
  return `sha256:${hash("sha256", body).slice(0, 32)}`;
}

/** An address in one spelling, without what may be a secret: user name, password, query. */
function plainAddress(service: string): Pick<URL, "hostname" | "origin" | "href"> {
  const { hostname, origin, pathname } = new URL(service);
  return { hostname, origin, href: origin + pathname.replace(/\/+$/, "") };
}
