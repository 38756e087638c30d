import { memberTexts } from "./json-members.js";

/**
 * The `result` in an envelope's text as the service wrote it, digits, order and repeated members
 * included. Line breaks are removed: JSON has them between tokens only, and a line of NDJSON has none.
 *
 * @param envelope a text that `JSON.parse` takes for an object with a `result`
 */
export function resultText(envelope: string): string {
  const text = memberTexts(envelope).get("result") ?? "null";
  return text.includes("\n") || text.includes("\r") ? text.replaceAll(/[\r\n]+/g, "") : text;
}
