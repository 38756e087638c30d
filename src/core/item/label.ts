import { isPublishedKind } from "./kind-names.js";
import { refang } from "./refang.js";
import { strip } from "./strip.js";

/**
 * A cell's text without what surrounds its value, see `strip`, and without a stray leading `?`, such
 * as a byte order mark leaves that was written in the wrong encoding. No item begins with one.
 */
export function stripCell(text: string): string {
  const bare = strip(text);
  return bare.startsWith("?") ? strip(bare.replace(questionMarks, "")) || bare : bare;
}

/**
 * The value behind a publisher's prefix (`SHA1: …`, `IP: …`, `URL = …`), stripped and refanged; null
 * when there is no such prefix.
 */
export function behindLabel(text: string): string | null {
  const label = labelled.exec(text);
  if (label === null || !isPublishedKind(label[1] ?? "")) return null;
  return refang(stripCell(text.slice(label[0].length)));
}

const questionMarks = /^[?\s]+/;
const labelled = /^([a-z][\w ./-]{0,31}?) ?[:=]\s*(?=\S)/i;
