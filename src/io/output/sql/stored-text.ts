import { isWellFormed, toWellFormed } from "../../../core/bytes.js";

/**
 * Makes a text storable in every warehouse: U+0000 (not allowed in PostgreSQL text, manual section
 * 8.3) and lone surrogates (not encodable in UTF-8, RFC 3629, section 3) become U+FFFD.
 * @param onWarning called once per text for each kind of replacement
 */
export function storedText(text: string, onWarning?: (message: string) => void): string {
  let stored = text;
  if (stored.includes("\0")) {
    stored = stored.replaceAll("\0", "\uFFFD");
    onWarning?.("replaced U+0000 with U+FFFD in values that contain it");
  }
  if (!isWellFormed(stored)) {
    stored = toWellFormed(stored);
    onWarning?.("replaced invalid UTF-8 with U+FFFD in values that contain it");
  }
  return stored;
}
