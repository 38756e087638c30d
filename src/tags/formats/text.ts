import type { AddressList } from "../address/address-list.js";
import { addressLines } from "./address-lines.js";

/** One address a line. */
export function writeText(list: AddressList): Iterable<Uint8Array> {
  return addressLines(list, { v4: ["", "\n"], v6: ["", "\n"] });
}
