import { isWellFormed, toWellFormed } from "../../core/bytes.js";

/** Characters that no warehouse can store; each becomes U+FFFD. */
export type TextFault = "nul" | "surrogate";

/** U+FFFD, the replacement character (Unicode Standard, section 3.9). */
const replacement = "\uFFFD";

/**
 * Makes a text storable in every warehouse: U+0000 (not allowed in PostgreSQL text, manual section
 * 8.3) and lone surrogates (not encodable in UTF-8, RFC 3629, section 3) become U+FFFD.
 * @param onFault called once per text for each kind of replacement
 */
export function storedText(text: string, onFault: (fault: TextFault) => void): string {
  let stored = text;
  if (stored.includes("\0")) {
    stored = stored.replaceAll("\0", replacement);
    onFault("nul");
  }
  if (!isWellFormed(stored)) {
    stored = toWellFormed(stored);
    onFault("surrogate");
  }
  return stored;
}
