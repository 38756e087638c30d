import { isIP } from "node:net";
import { hostname } from "node:os";
import { isLoopback } from "../api/http/dispatcher.js";

/**
 * Makes a check that tells by its `Host` header whether a request is meant for this service. A web page whose name
 * its owner points at 127.0.0.1 (DNS rebinding) shares its origin with the service and could read
 * answers and change cases, but the browser still sends the page's name as `Host`.
 *
 * Accepted are the names and addresses of the loopback interface and the host the service listens
 * on; on all interfaces, every IP address and this machine's own name. The port is free, because a
 * forwarded port differs. A request of HTTP/1.0 may have no `Host`; browsers always send one.
 *
 * @param listening host name or address that the service is told to listen on
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

/** A host as it stands in a URL: IPv6 addresses in brackets. */
export function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The host of a `Host` header, without port and as URLs spell it; null when it is none. */
function hostOf(header: string): string | null {
  if (!/^[^\s/?#@\\]+$/.test(header) || !URL.canParse(`http://${header}`)) return null;
  return new URL(`http://${header}`).hostname.replace(/\.$/, "");
}
