import { unknownAuthority } from "../../core/certificate-fault.js";
import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { isLoopback } from "../../api/http/proxy.js";
import type { Clock } from "../../core/clock.js";
import { type Check, fail, ok, warn } from "./check.js";

export interface ConnectionOptions {
  readonly clock: Pick<Clock, "now">;
  /** For each step, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Resolves the host, connects and, for https, looks at the certificate. Sends no request. */
export async function* checkConnection(
  url: URL,
  options: ConnectionOptions,
): AsyncGenerator<Check, void, undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const address = isIP(host) > 0 ? host : yield* resolveHost(host, options);
  if (address === null) return;
  const isTls = url.protocol === "https:";
  const port = Number(url.port) || (isTls ? 443 : 80);
  let connected: { readonly ms: number; readonly certificate: Certificate | null };
  try {
    connected = await openConnection({ address, port, host }, isTls, options);
  } catch (error) {
    options.signal.throwIfAborted();
    yield connectionFault(`${address} port ${port}`, error);
    return;
  }
  yield ok("connection", `${address} port ${port}, ${Math.round(connected.ms)} ms`);
  if (connected.certificate !== null) {
    yield certificateCheck(connected.certificate, host, options.clock.now());
  } else if (!isLoopback(url.hostname)) {
    yield warn(
      "certificate",
      "http:// is not encrypted",
      "use https://, or others can read the API key",
    );
  }
}

async function* resolveHost(
  host: string,
  { timeoutMs, signal }: ConnectionOptions,
): AsyncGenerator<Check, string | null, undefined> {
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const late = new Promise<never>((_, reject) => {
    timeout.addEventListener("abort", () => reject(timeout.reason), { once: true });
  });
  try {
    const { address } = await Promise.race([lookup(host), late]);
    yield ok("dns", `${host} is ${address}`);
    return address;
  } catch (error) {
    signal.throwIfAborted();
    const { code = "" } = error as NodeJS.ErrnoException;
    const reason = timeout.aborted ? "no answer in time" : code;
    yield fail(
      "dns",
      `cannot resolve ${host} (${reason})`,
      "check the spelling and this machine's network; what needs the service stays unchecked",
    );
    return null;
  }
}

interface ServerAddress {
  readonly address: string;
  readonly port: number;
  /** Name on the certificate. */
  readonly host: string;
}

/** What a server's certificate says. */
export interface Certificate {
  /** Why Node.js does not trust it; null when it does. */
  readonly fault: string | null;
  readonly validTo: string;
}

async function openConnection(
  { address, port, host }: ServerAddress,
  isTls: boolean,
  { timeoutMs, signal }: ConnectionOptions,
) {
  const start = performance.now();
  // The certificate is judged here, so that an untrusted one is reported, not thrown.
  const tls = { servername: isIP(host) > 0 ? "" : host, rejectUnauthorized: false };
  const socket: Socket = isTls
    ? connectTls({ host: address, port, ...tls })
    : connect({ host: address, port });
  const abort = (): void => void socket.destroy(signal.reason as Error);
  signal.addEventListener("abort", abort, { once: true });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error("no answer in time")));
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once(isTls ? "secureConnect" : "connect", resolve).once("error", reject);
    });
    const certificate = isTls ? certificateOf(socket as TLSSocket) : null;
    return { ms: performance.now() - start, certificate };
  } finally {
    signal.removeEventListener("abort", abort);
    socket.on("error", () => undefined).destroy();
  }
}

function certificateOf(socket: TLSSocket): Certificate {
  // The types say Error; Node.js gives the code of one.
  const error = socket.authorizationError as unknown;
  const fault = error instanceof Error ? error.message : ((error as string | null) ?? null);
  return { fault, validTo: socket.getPeerCertificate().valid_to };
}

function connectionFault(place: string, error: unknown): Check {
  const { code, message } = error as NodeJS.ErrnoException;
  const isTls = code?.startsWith("ERR_SSL") === true || code === "EPROTO";
  return fail(
    "connection",
    `cannot connect to ${place} (${code ?? message})`,
    isTls
      ? "the port does not speak TLS: check port and scheme of the address"
      : "check port, firewall and proxy (HTTPS_PROXY); what needs the service stays unchecked",
  );
}

const dayMs = 86_400_000;

/** Days before its end from which a certificate is warned about. */
const soon = 14;

export function certificateCheck(
  { fault, validTo }: Certificate,
  host: string,
  nowMs: number,
): Check {
  const days = Math.floor((Date.parse(validTo) - nowMs) / dayMs);
  const until = `until ${new Date(validTo).toISOString().slice(0, 10)}`;
  if (fault !== null) return fail("certificate", `not trusted: ${fault}`, remedyFor(fault, host));
  if (days < soon) {
    return warn(
      "certificate",
      `valid ${until}, ${days} days left`,
      "ask the service's operator to renew it",
    );
  }
  return ok("certificate", `valid ${until}, ${days} days left`);
}

function remedyFor(fault: string, host: string): string {
  if (/EXPIRED|NOT_YET_VALID/.test(fault)) {
    return "check this machine's clock; else the service's operator has to renew it";
  }
  if (/ALTNAME/.test(fault)) return `it is not for ${host}: check the host of the address`;
  return unknownAuthority;
}
