import type { EndpointSpec } from "./endpoint.js";
import { query } from "./query.js";
import { quickCheck } from "./quick-check.js";

/** Every lookup endpoint, by name, in the order of its columns. */
export const endpoints = { query, "quick-check": quickCheck } as const satisfies Readonly<
  Record<string, EndpointSpec>
>;

/** `quick-check` as `quickCheck`. */
export type CamelCase<Words extends string> = Words extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Words;

export function camelCase<Words extends string>(words: Words): CamelCase<Words> {
  const text = words.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return text as CamelCase<Words>;
}
