import { describe, expect, it } from "vitest";
import { itemKinds, parseKindName } from "../../../src/core/item/item.js";

describe("parseKindName", () => {
  it.each([
    ["ip", "ip ipv4 IPv6 ip-dst ip-src ip_port ip:port ip-dst|port ipv4-addr ip_address address"],
    ["domain", "domain hostname fqdn domain-name domain_port Host"],
    ["url", "url URI link Url"],
    ["sha1", "sha1 SHA-1 sha_1 SHA1 sha1_hash FileHash-SHA1"],
    ["email", "email e-mail email-src email-dst email-addr mail"],
    ["crypto_wallet", "wallet crypto_wallet btc xmr monero_address Cryptocurrency-Wallet ETH ltc"],
  ] as const)("knows the spellings of %s", (kind, spellings) => {
    expect(new Set(spellings.split(" ").map(parseKindName))).toEqual(new Set([kind]));
  });

  it.each(itemKinds)("knows the project's own name %s", (kind) => {
    expect(parseKindName(kind)).toBe(kind);
  });

  it.each(["sha256", "filename", "", "__proto__"])("is null for %j", (name) => {
    expect(parseKindName(name)).toBeNull();
  });

  it("is null for a text too long to be a name", () => {
    expect(parseKindName("ip".padEnd(1_000_000))).toBeNull();
  });
});
