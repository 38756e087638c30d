import { base58checkVersion } from "./base58check.js";
import { readSegwit } from "./segwit.js";

/** Reads a Bitcoin address of the main network: `1…` and `3…` (base58check), `bc1…` (bech32). */
export function readBitcoin(text: string): string | null {
  const first = text.charAt(0);
  if (first === "b" || first === "B") return readSegwit(text, "bc");
  if (first !== "1" && first !== "3") return null;
  const version = base58checkVersion(text);
  return version === payToPublicKeyHash || version === payToScriptHash ? text : null;
}

const payToPublicKeyHash = 0x00;
const payToScriptHash = 0x05;
