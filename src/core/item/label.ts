import { isPublishedKind } from "./item.js";
import { refang, strip } from "./refang.js";

/**
 * Strips a cell (see `strip`), and a stray leading `?`, the trace of a byte order mark written in the
 * wrong encoding. No item starts with one.
 */
export function stripCell(text: string): string {
  const bare = strip(text);
  return bare.startsWith("?") ? strip(bare.replace(questionMarks, "")) || bare : bare;
}

/**
 * The value after a publisher's prefix (`SHA1: …`, `IP: …`, `URL = …`), stripped and refanged; null
 * without such a prefix.
 */
export function behindLabel(text: string): string | null {
  const label = labelled.exec(text);
  if (label === null) return null;
  const [, name = ""] = label;
  if (!isPublishedKind(name) && !otherLabel.test(name)) return null;
  return refang(stripCell(text.slice(label[0].length)));
}

const questionMarks = /^[?\s]+/;
const otherLabel =
  /^(?:iocs?|indicators?|observables?|c2|c&c|cnc|c2 (?:server|domain|host)|from|to|cc|bcc|rcpt)$/i;
const labelled = /^([a-z][\w &./-]{0,31}?) ?[:=]\s*(?=\S)/i;
