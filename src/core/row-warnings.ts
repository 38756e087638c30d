import { isWellFormed } from "./bytes.js";
import { parseKindName } from "./item/kind-names.js";
import type { Row } from "./row.js";

/**
 * What a person should know of a row, as messages that are counted. They depend on the row alone, so
 * that a resumed run counts the same as an uninterrupted one.
 */
export function rowWarnings(row: Row): readonly string[] {
  const isWhole = row.json === null ? row.cells.every(isWellFormed) : isWellFormed(row.json);
  const isSurplus = row.extra !== null && row.json === null && row.fault === null;
  const isUnknownKind = row.kindText !== "" && parseKindName(row.kindText) === null;
  if (isWhole && !isSurplus && !isUnknownKind) return none;
  return [
    ...(isWhole && isWellFormed(row.extra ?? "") ? [] : [messages.notUtf8]),
    ...(isSurplus ? [messages.surplus] : []),
    ...(isUnknownKind ? [messages.unknownKind] : []),
  ];
}

const none: readonly string[] = [];

const messages = {
  notUtf8: "row with bytes that are not UTF-8, kept as they are",
  surplus: "row with more cells than there are columns",
  unknownKind: "values in the kind column that name no kind of item were ignored",
};
