/**
 * User name and password of a URL, between its scheme and the last `@` before its path. The password
 * may contain an unencoded slash; a port followed by a path is not a password.
 */
const credentials = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^/\s?#]*|[^/\s:@]*:(?!\d*[/?#])\S*)@/gi;

/** A password in the query of a database URL, which drivers accept too. */
const parameters = /([?&](?:ssl)?password=)[^&\s#]*/gi;

/** Masks user name and password of every URL in a text: `https://***@host`. */
export function redactAddress(text: string): string {
  return text.replaceAll(credentials, "$1***@").replaceAll(parameters, "$1***");
}
