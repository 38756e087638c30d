import { expect, it } from "vitest";
import { looksLikeWallet, readWallet } from "../../../src/core/item/wallet.js";

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

// Of the specifications: SEP-23, CashAddr, and BIP 173 with another prefix.
const stellarAccount = "GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ";
const stellarMuxed = "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ";
const solana = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const cashAddr = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a";

const read = (text: string): string | null => readWallet(text, false);

it.each([
  ["Bitcoin, public key hash", pkh],
  ["Bitcoin, script hash", "31nM1WuowNDzocNxPPW9NQWJEtwWpjfcLj"],
  ["Bitcoin, bech32 (example of BIP 173)", bech32Example],
  ["Bitcoin, bech32m (example of BIP 350)", bech32mExample],
  ["Litecoin, public key hash", "LKKHMBjCU89fyFNgSRprDoD8Jb25N8uWvd"],
  ["Litecoin, bech32", litecoinSegwit],
  ["Ethereum (example of EIP-55)", eip55Example],
  ["Monero, standard", moneroStandard],
  ["Monero, subaddress", moneroSubaddress],
  ["Monero, integrated", moneroIntegrated],
  ["Bitcoin's test network, bech32", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"],
  ["Zcash", "t1VShHAhsQc5RVndQLyM1ZbQXLHKd35GkG1"],
  ["Dogecoin", "D5ERdEN1gsouFSs7zsq7VYJxyWP6dP28H1"],
  ["Dash", "XanAvE5GMB8CsPH78B9moJq9viEVKvCS4f"],
  ["Base58Check of 32 bytes", "miZoWTm9c4yAGPwajZFySQeewuiWiG8yR39twZWEiQANY3aXZx"],
  ["Cosmos, bech32", "cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu"],
  ["Tron", "TA4Y62o6YC2Zsck9rZVGTvqW1AQ7X9zTnj"],
  ["Ripple", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"],
  ["Stellar, account", stellarAccount],
  ["Stellar, multiplexed account", stellarMuxed],
  ["CashAddr", cashAddr],
])("reads %s", (_, address) => {
  expect(read(address)).toBe(address);
});

it.each([
  // Of another spelling.
  [cashAddr.slice("bitcoincash:".length).toUpperCase(), cashAddr],
  [bech32Example.toUpperCase(), bech32Example],
  [litecoinSegwit.toUpperCase(), litecoinSegwit],
  // EIP-55, without a checksum or with a wrong one.
  [eip55Example.toLowerCase(), eip55Example],
  [`0x${eip55Example.slice(2).toUpperCase()}`, eip55Example],
  [eip55Example.replace(/d$/, "D"), eip55Example],
  // Payment URIs.
  [`bitcoin:${pkh}?amount=1&label=x`, pkh],
  [`BITCOIN:${bech32Example.toUpperCase()}`, bech32Example],
  [`ethereum:${eip55Example}`, eip55Example],
  [`monero:${moneroStandard}`, moneroStandard],
])("reads %s as %s", (text, expected) => {
  expect(read(text)).toBe(expected);
});

it("reads an address without a checksum where the input says that it is one", () => {
  expect(readWallet(solana, true)).toBe(solana);
});

it.each([
  ["a wrong base58 checksum", `${pkh.slice(0, -1)}v`],
  ["a wrong bech32 checksum", bech32Example.replace(/.$/, "5")],
  ["both cases in bech32", `BC1${bech32Example.slice(3)}`],
  ["version 0 with bech32m", "bc1qqypqxpq9qcrsszg2pvxq6rs0zqg3yyc5uyze8n"],
  ["version 1 with bech32", "bc1pqypqxpq9qcrsszg2pvxq6rs0zqg3yyc5z5tpwxqergd3c8g7rusqm2l7p3"],
  ["a wrong Monero checksum", moneroStandard.replace(/T$/, "U")],
  ["Monero's stage network", moneroStagenet],
  ["a wrong Tron checksum", "TA4Y62o6YC2Zsck9rZVGTvqW1AQ7X9zTni"],
  ["a wrong Ripple checksum", "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTi"],
  ["a wrong Stellar checksum", stellarAccount.replace(/Z$/, "Y")],
  ["a wrong CashAddr checksum", cashAddr.replace(/a$/, "q")],
  ["a prefix that is not registered", "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw"],
  ["a private key of Bitcoin", "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"],
  ["a secret of Stellar", "SBU2RRGLXH3E5CQHTD3ODLDF2BWDCYUSSBLLZ5GNW7JXHDIYKXZWHOKR"],
  ["an address of Solana, without a label", solana],
  ["an Ethereum transaction", `0x${"a".repeat(64)}`],
  ["a word", "Mimikatz"],
  ["a long word", "MonitoringConfigurationService"],
  ["an empty payment URI", "bitcoin:"],
])("is null for %s", (_, text) => {
  expect(read(text)).toBeNull();
});

it("an address with a wrong checksum looks like a wallet, a hash doesn't", () => {
  const texts = [`${pkh.slice(0, -1)}v`, "da39a3ee5e6b4b0d3255bfef95601890afd80709"];
  expect(texts.map(looksLikeWallet)).toEqual([true, false]);
});
