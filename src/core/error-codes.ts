import { commandAreas } from "./error-codes/command-codes.js";
import { dataAreas } from "./error-codes/data-codes.js";
import { serviceCodes, itemCodes } from "./error-codes/row-codes.js";

/**
 * What is known about a code: what it means, what the user can do, and how repute retries before it
 * reports the code. Without the third, it doesn't retry.
 */
export type CodeEntry = readonly [meaning: string, remedy: string, retried?: string];

/**
 * Every error code by area, in the order of docs/errors.md. To add one, add its entry to its area:
 * the error classes accept it then, and `UPDATE_DOCS=1 npx vitest run test/unit/core/error-codes`
 * writes the page.
 */
export const errorAreas = {
  "Unsupported items": itemCodes,
  "Service and network": serviceCodes,
  ...dataAreas,
  ...commandAreas,
} as const satisfies Readonly<Record<string, Readonly<Record<string, CodeEntry>>>>;

type Areas = typeof errorAreas;
type Registered = { [Area in keyof Areas]: keyof Areas[Area] }[keyof Areas];

/** The code for an HTTP status without data: `http_404`. */
type HttpCode = `http_${number}`;

/** A stable error code. Programs compare it and never the message. */
export type ErrorCode = Exclude<Registered, "http_NNN"> | HttpCode;
