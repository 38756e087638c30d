import type { MadeUp } from "../../core/finding-source.js";
import type { ResponseHeaders } from "./types.js";

/** Headers of every answer of an embedded service. */
export const madeUpHeaders: Readonly<Record<MadeUp, string>> = {
  sample: "x-sample-data",
  invented: "x-synthetic-data",
};

/** Whether the service says that its answer is made up, and how. */
export function madeUpIn(headers: ResponseHeaders): MadeUp | undefined {
  if (headers[madeUpHeaders.invented] !== undefined) return "invented";
  return headers[madeUpHeaders.sample] === undefined ? undefined : "sample";
}
