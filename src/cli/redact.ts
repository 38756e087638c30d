/**
 * User name and password of an address, between its scheme and the last `@` before its path. A
 * password may hold a slash where somebody forgot to encode it; a port does not begin one.
 */
const credentials = /\b([a-z][a-z0-9+.-]*:\/\/)(?:[^/\s"'?#]*|[^/\s"':@]*:(?!\d*[/?#])[^\s"']*)@/gi;

/** Hides the user name and password of every address in a text: `https://***@host`. */
export function redactAddress(text: string): string {
  return text.replaceAll(credentials, "$1***@");
}

/** The command line as it may be shown and kept: no credential of an address stays in it. */
export function shownCommand(args: readonly string[]): readonly string[] {
  return ["repute", ...args.map(redactAddress)];
}
