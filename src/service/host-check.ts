import { isIP } from "node:net";
import { hostname } from "node:os";
import { isLoopback } from "../api/http/proxy.js";

/**
 * Creates a check of the `Host` header that protects against DNS rebinding. A web page whose name
 * resolves to 127.0.0.1 has the same origin as the service and could read answers and change cases,
 * but the browser still sends the page's name as `Host`.
 *
 * Accepts the names and addresses of the loopback interface and the host that the service listens
 * on; when it listens on all interfaces, also any IP address and the machine's own name. Any port
 * is accepted, because ports can be forwarded. HTTP/1.0 requests may lack the header; browsers
 * always send it.
 *
 * @param listening host name or address that the service listens on
 */
export function hostCheck(listening: string): (header: string | undefined) => boolean {
  const isEverywhere = listening === "0.0.0.0" || listening === "::";
  const own = hostOf(isEverywhere ? hostname() : inUrl(listening));
  return (header) => {
    if (header === undefined) return true;
    const host = hostOf(header);
    if (host === null) return false;
    if (isLoopback(host) || host === own) return true;
    return isEverywhere && isIP(host.replace(/^\[|\]$/g, "")) !== 0;
  };
}

/** Formats a host for a URL: IPv6 addresses go in brackets. */
export function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The host of a `Host` header without its port, normalised as in URLs; null if invalid. */
function hostOf(header: string): string | null {
  if (!/^[^\s/?#@\\]+$/.test(header) || !URL.canParse(`http://${header}`)) return null;
  return new URL(`http://${header}`).hostname.replace(/\.$/, "");
}
