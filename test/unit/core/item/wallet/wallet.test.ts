import { describe, expect, it } from "vitest";
import { looksLikeWallet, readWallet } from "../../../../../src/core/item/wallet/wallet.js";

// Made from the bytes 1, 2, 3 … as key or hash, except for published examples, named as such.
const pkh = "16L5yRNPTuciSgXGHqYwn9N6NeoKqopAu";
const bech32Example = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const bech32mExample = "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0";
const litecoinSegwit = "ltc1qqypqxpq9qcrsszg2pvxq6rs0zqg3yyc5dyg36p";
const eip55Example = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const moneroStandard =
  "41jnhtmvtaY9jiE5q6R6r8K97TmXRkh16UYWhTDm6HA4dwuw8v6RXkg4N46GHm5d3aDmTKwz6RDCYPArZdgRkoMWNH9SzFT";
const moneroSubaddress =
  "82Zw3GRmUzx9jiE5q6R6r8K97TmXRkh16UYWhTDm6HA4dwuw8v6RXkg4N46GHm5d3aDmTKwz6RDCYPArZdgRkoMWNDLTUfm";
const moneroIntegrated =
  "4BSTihbRVr49jiE5q6R6r8K97TmXRkh16UYWhTDm6HA4dwuw8v6RXkg4N46GHm5d3aDmTKwz6RDCYPArZdgRkoMWYaFoKNm6PWUUb9ifzc";
const moneroStagenet =
  "51wpnjgtYBe9jiE5q6R6r8K97TmXRkh16UYWhTDm6HA4dwuw8v6RXkg4N46GHm5d3aDmTKwz6RDCYPArZdgRkoMWNKcuG52";

describe("readWallet", () => {
  it.each([
    ["Bitcoin, public key hash", pkh],
    ["Bitcoin, script hash", "31nM1WuowNDzocNxPPW9NQWJEtwWpjfcLj"],
    ["Bitcoin, bech32 (example of BIP 173)", bech32Example],
    ["Bitcoin, bech32m (example of BIP 350)", bech32mExample],
    ["Litecoin, public key hash", "LKKHMBjCU89fyFNgSRprDoD8Jb25N8uWvd"],
    ["Litecoin, script hash", "M7zVKQKmtV5Rc7erVGVVC3khZbXxsS5HEX"],
    ["Litecoin, bech32", litecoinSegwit],
    ["Litecoin, bech32m", "ltc1pqypqxpq9qcrsszg2pvxq6rs0zqg3yyc5z5tpwxqergd3c8g7rusqdjpz7k"],
    ["Ethereum (example of EIP-55)", eip55Example],
    ["Monero, standard", moneroStandard],
    ["Monero, subaddress", moneroSubaddress],
    ["Monero, integrated", moneroIntegrated],
  ])("reads %s", (_, address) => {
    expect(readWallet(address)).toBe(address);
  });

  it("converts bech32 to lower case", () => {
    expect(readWallet(bech32Example.toUpperCase())).toBe(bech32Example);
    expect(readWallet(litecoinSegwit.toUpperCase())).toBe(litecoinSegwit);
  });

  it("converts an Ethereum address without a checksum to EIP-55", () => {
    expect(readWallet(eip55Example.toLowerCase())).toBe(eip55Example);
    expect(readWallet(`0x${eip55Example.slice(2).toUpperCase()}`)).toBe(eip55Example);
  });

  it.each([
    [`bitcoin:${pkh}?amount=1&label=x`, pkh],
    [`BITCOIN:${bech32Example.toUpperCase()}`, bech32Example],
    [`ethereum:${eip55Example}`, eip55Example],
    [`monero:${moneroStandard}`, moneroStandard],
  ])("reads the address of the payment URI %s", (text, expected) => {
    expect(readWallet(text)).toBe(expected);
  });

  it.each([
    ["a wrong base58 checksum", `${pkh.slice(0, -1)}v`],
    ["a wrong bech32 checksum", bech32Example.replace(/.$/, "5")],
    ["both cases in bech32", `BC1${bech32Example.slice(3)}`],
    ["version 0 with bech32m", "bc1qqypqxpq9qcrsszg2pvxq6rs0zqg3yyc5uyze8n"],
    ["version 1 with bech32", "bc1pqypqxpq9qcrsszg2pvxq6rs0zqg3yyc5z5tpwxqergd3c8g7rusqm2l7p3"],
    ["a wrong EIP-55 case", eip55Example.replace(/d$/, "D")],
    ["a wrong Monero checksum", moneroStandard.replace(/T$/, "U")],
    ["Bitcoin's test network, base58", "mfcHP2WMCVLsVZA8yrovmhMgxNFW9r98xw"],
    ["Bitcoin's test network, bech32", "tb1qqypqxpq9qcrsszg2pvxq6rs0zqg3yyc5r7fxez"],
    ["Monero's stage network", moneroStagenet],
    ["Tron", "TA4Y62o6YC2Zsck9rZVGTvqW1AQ7X9zTnj"],
    ["an Ethereum transaction", `0x${"a".repeat(64)}`],
    ["a word", "Mimikatz"],
    ["a long word", "MonitoringConfigurationService"],
    ["an empty payment URI", "bitcoin:"],
  ])("is null for %s", (_, text) => {
    expect(readWallet(text)).toBeNull();
  });
});

describe("looksLikeWallet", () => {
  it("is true for an address with a wrong checksum", () => {
    expect(looksLikeWallet(`${pkh.slice(0, -1)}v`)).toBe(true);
  });

  it("is false for a hash", () => {
    expect(looksLikeWallet("da39a3ee5e6b4b0d3255bfef95601890afd80709")).toBe(false);
  });
});
