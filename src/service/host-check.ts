import { isIP } from "node:net";
import { hostname } from "node:os";

/**
 * Decides by its `Host` header whether a request is meant for this service. A web page whose name
 * its owner points at 127.0.0.1 (DNS rebinding) shares its origin with the service and could read
 * answers and change cases, but the browser still sends the page's name as `Host`.
 *
 * Accepted are the names and addresses of the loopback interface and the host the service listens
 * on; on all interfaces, every IP address and this machine's own name. The port is free, because a
 * forwarded port differs. A request of HTTP/1.0 may have no `Host`; browsers always send one.
 */
export class HostCheck {
  readonly #everyAddress: boolean;
  readonly #own: Set<string | null>;
  /** The header accepted last: clients send the same one again and again. */
  #last: string | undefined;

  /** @param listening host name or address that the service is told to listen on */
  constructor(listening: string) {
    this.#everyAddress = listening === "0.0.0.0" || listening === "::";
    const names = this.#everyAddress ? [hostname()] : [inUrl(listening)];
    this.#own = new Set(names.map(hostOf));
  }

  accepts(header: string | undefined): boolean {
    if (header === undefined || header === this.#last) return true;
    const host = hostOf(header);
    if (host === null) return false;
    const isAddress = isIP(host.replace(/^\[|\]$/g, "")) !== 0;
    const accepted = isLoopback(host) || this.#own.has(host) || (this.#everyAddress && isAddress);
    if (accepted) this.#last = header;
    return accepted;
  }
}

/** Whether a name or address, without port, stands for the loopback interface (RFC 6761, 6.3). */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return /^127(\.\d{1,3}){3}$/.test(host) || host === "[::1]" || host === "::1";
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
