import type { LookupAddress, LookupAllOptions } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";

/** How long a failure counts for connections that open later, in milliseconds. */
const failureMs = 500;

type Resolve = (host: string, options: LookupAllOptions) => Promise<LookupAddress[]>;

/**
 * Resolves the host name of a service or proxy once for all connections that open together. Node.js
 * resolves at most four names at a time, and waits for all of them when it exits; a resolver may be slow
 * to answer many questions for a name that does not exist.
 *
 * @param resolve `lookup` of `node:dns/promises`, or its equivalent
 */
export function sharedLookup(resolve: Resolve = lookup): LookupFunction {
  const shared = new Map<string, Promise<LookupAddress[]>>();
  return (host, options, done) => {
    let addresses = shared.get(host);
    if (addresses === undefined) {
      addresses = resolve(host, { ...options, all: true });
      shared.set(host, addresses);
      const forget = (): unknown => shared.delete(host);
      addresses.then(forget, () => setTimeout(forget, failureMs).unref());
    }
    addresses.then(
      (all) => {
        if (options.all === true) done(null, all);
        else done(null, all[0]!.address, all[0]!.family);
      },
      (error: NodeJS.ErrnoException) => done(error, ""),
    );
  };
}
