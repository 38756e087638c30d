import { base58checkVersion } from "./base58check.js";
import { readSegwit } from "./segwit.js";

/**
 * Reads a Litecoin address of the main network: `L…` and `M…` (base58check), `ltc1…` (bech32). Its
 * old script addresses (`3…`) are Bitcoin's in every digit and are read there.
 */
export function readLitecoin(text: string): string | null {
  const first = text.charAt(0);
  if (first === "l" || (first === "L" && text.charAt(1) === "T")) {
    const address = readSegwit(text, "ltc");
    if (address !== null) return address;
  }
  if (first !== "L" && first !== "M") return null;
  const version = base58checkVersion(text);
  return version === payToPublicKeyHash || version === payToScriptHash ? text : null;
}

const payToPublicKeyHash = 0x30;
const payToScriptHash = 0x32;
