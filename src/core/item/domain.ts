import { type Hostname, readHostname } from "./hostname.js";
import { isPortOrNothing } from "./ip.js";

/**
 * Reads a domain or host name under a known public suffix: lower case, A-labels, no trailing dot.
 * A port behind it is dropped (`example.com:8080`).
 *
 * A name that could be a file as well (`install.sh`) is a domain where its ending is a public
 * suffix: asking for a file costs a request, not asking for a domain costs the answer.
 *
 * @param labelled true when the input itself says that this is a domain: then a space beside a dot
 *   goes (`example. com`, which may as well be the end of a sentence)
 * @returns the normal form, or null when the text is no domain
 */
export function readDomain(text: string, labelled: boolean): string | null {
  const host = readHostAndPort(labelled ? closeUpDots(text) : text);
  return host === null ? null : host.name;
}

const spacedDot = / ?\. ?/g;

function closeUpDots(text: string): string {
  return text.includes(" ") ? text.replace(spacedDot, ".") : text;
}

function readHostAndPort(text: string): Hostname | null {
  const colon = text.indexOf(":");
  if (colon < 0) return readHostname(text);
  return isPortOrNothing(text, colon) ? readHostname(text.slice(0, colon)) : null;
}
