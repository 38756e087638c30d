import type { CodeEntry } from "./error-codes/entry.js";
import { inputCodes } from "./error-codes/input-codes.js";
import { itemCodes } from "./error-codes/item-codes.js";
import { outputCodes, warehouseCodes } from "./error-codes/output-codes.js";
import { chunkCodes, embeddedCodes, runCodes } from "./error-codes/run-codes.js";
import { serviceCodes } from "./error-codes/service-codes.js";
import { tagCodes } from "./error-codes/tag-codes.js";
import { usageCodes, webhookCodes } from "./error-codes/usage-codes.js";

/**
 * Every error code by area, in the order of docs/errors.md. To add one, add its entry to its area:
 * the error classes accept it then, and `UPDATE_DOCS=1 npx vitest run test/unit/core/error-codes`
 * writes the page.
 */
export const errorAreas = {
  "Unsupported items": itemCodes,
  "Service and network": serviceCodes,
  Input: inputCodes,
  Output: outputCodes,
  "Parquet and databases": warehouseCodes,
  "Interrupted runs, journal and cache": runCodes,
  Chunks: chunkCodes,
  "Tag lists": tagCodes,
  "Command line and settings": usageCodes,
  Webhooks: webhookCodes,
  "Embedded service": embeddedCodes,
} as const satisfies Readonly<Record<string, Readonly<Record<string, CodeEntry>>>>;

type Areas = typeof errorAreas;
type Registered = { [Area in keyof Areas]: keyof Areas[Area] }[keyof Areas];

/** The code for an HTTP status without data: `http_404`. */
type HttpCode = `http_${number}`;

/** A stable error code. Programs compare it and never the message. */
export type ErrorCode = Exclude<Registered, "http_NNN"> | HttpCode;
