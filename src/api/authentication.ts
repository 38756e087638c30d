/**
 * How to get past an `Authentication Failed`, as the specification says it: generate a key, send it
 * as Bearer.
 */
export const authenticationSteps =
  "Step 1: generate an API key in the Settings tab of the case management product." +
  ' Step 2: use Bearer authentication: send it in the header "Authorization: Bearer <API_KEY>".';

/**
 * Whether a body says `Authentication Failed`: the specification names the failure so and gives no
 * status for it. Finds the phrase in plain text, JSON and HTML, in any case, also as an error code
 * (`authentication_failed`) unless JSON denies it (`"authentication_failed": false`).
 *
 * @param body its beginning counts; a failure is not told in the middle of megabytes
 */
export function saysAuthenticationFailed(body: string | Buffer): boolean {
  const text = (typeof body === "string" ? body : body.toString("utf8", 0, longestBody))
    .slice(0, longestBody)
    .replaceAll(/\\u00([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replaceAll(/\\[nrt]/g, " ")
    .replaceAll(/<[^<>]*>/g, " ")
    .replaceAll(/&(?:nbsp|#160|#xa0|#32|#x20);/gi, " ");
  return phrase.test(text);
}

const longestBody = 64 * 1024;

const phrase = /authentication[\s_-]*failed(?!["']?\s*:\s*(?:false|null|0\b))/i;
