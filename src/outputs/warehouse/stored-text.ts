/** What a text had that no warehouse can store; each one became U+FFFD. */
export type TextFault = "nul" | "surrogate";

/** U+FFFD, the replacement character (Unicode, 3.9: replacement of ill-formed sequences). */
const replacement = "\uFFFD";

/** Half of a character outside the basic plane, alone or not. */
const anySurrogate = /[\uD800-\uDFFF]/;

/** With the `u` flag a pair is one character, so that this finds lone halves only. */
const loneSurrogate = /\p{Surrogate}/gu;

/**
 * The text as every warehouse can store it: U+0000 (PostgreSQL has no such character, 8.3) and lone
 * surrogates (which UTF-8 cannot write, RFC 3629, 3) become U+FFFD.
 *
 * @param onFault told once a text for each kind of replacement
 */
export function storedText(text: string, onFault: (fault: TextFault) => void): string {
  let stored = text;
  if (stored.includes("\0")) {
    stored = stored.replaceAll("\0", replacement);
    onFault("nul");
  }
  if (anySurrogate.test(stored)) {
    const whole = stored.replace(loneSurrogate, replacement);
    if (whole !== stored) onFault("surrogate");
    stored = whole;
  }
  return stored;
}
