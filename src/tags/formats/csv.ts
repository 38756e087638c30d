import { recordWriter, withoutFormula } from "../../formats/csv/csv-writer.js";
import type { AddressList } from "../address/address-list.js";
import { addressLines } from "./address-lines.js";
import type { ListFacts } from "./types.js";

/** CSV (RFC 4180, lines ended by LF) with one row an address; `family` is 4 or 6. */
export function* writeCsv(list: AddressList, facts: ListFacts): Iterable<Uint8Array> {
  yield Buffer.from("ip,family,tag,snapshot,last_update,exported_at\n");
  const { tag, snapshot, lastUpdate, exportedAt, formulaGuard } = facts;
  const shown = formulaGuard ? withoutFormula : String;
  const rest = recordWriter(",")([tag, snapshot, lastUpdate, exportedAt].map(shown));
  yield* addressLines(list, { v4: ["", `,4,${rest}`], v6: ["", `,6,${rest}`] });
}
