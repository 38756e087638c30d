/** Blocks reserved for documentation (RFC 5737): answered like public addresses, since the data is invented. */
const documentation = ["192.0.2.", "198.51.100.", "203.0.113."] as const;

/** Whether an address is in a block that only invented hosts are in. */
export function isInvented(address: string): boolean {
  return (
    documentation.some((block) => address.startsWith(block)) ||
    address.startsWith("2001:db8:") ||
    isInSwarmBlock(address)
  );
}

/** 198.18.0.0/15, reserved for benchmarks (RFC 2544): home of the tag with the longest list. */
export function isInSwarmBlock(address: string): boolean {
  return address.startsWith("198.18.") || address.startsWith("198.19.");
}

/** Every IPv4 address that is reserved for documentation. */
export function documentationAddresses(): string[] {
  return documentation.flatMap((block) => Array.from({ length: 256 }, (_, host) => block + host));
}

/** Every address of 198.18.0.0/15. */
export function swarmBlock(): string[] {
  return Array.from(
    { length: 2 ** 17 },
    (_, host) => `198.${18 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}`,
  );
}
