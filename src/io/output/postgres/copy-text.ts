import { decimalDigits, isDecimal } from "../../formats/column-types.js";
import type { CellValue, StoredType } from "../../formats/typed-column.js";
import { decimalText, numberText } from "../../formats/input-values.js";
import type { ColumnBatch } from "../row-cells.js";

/** Encodes rows in COPY's text format (PostgreSQL manual, COPY, Text Format). */
export function copyText(types: readonly StoredType[], { rows, columns }: ColumnBatch): Buffer {
  let text = "";
  for (let row = 0; row < rows; row++) {
    for (let index = 0; index < types.length; index++) {
      text += (index > 0 ? "\t" : "") + field(types[index]!, columns[index]![row]!);
    }
    text += "\n";
  }
  return Buffer.from(text);
}

function field(type: StoredType, value: CellValue): string {
  if (value === null) return "\\N";
  if (typeof value === "string") return escaped(value);
  if (typeof value === "boolean") return value ? "t" : "f";
  if (typeof value === "number") return type === "date" ? julianDay(value) : numberText(value);
  if (typeof value === "bigint") {
    if (isDecimal(type)) return decimalText(value, decimalDigits(type).scale);
    if (type === "timestamp_local") return time(value);
    return type === "timestamp" ? `${time(value)}+00` : String(value);
  }
  // Array input syntax has its own escapes (PostgreSQL manual, section 8.15.6).
  const entries = value.map((entry) => `"${entry.replaceAll(/["\\]/g, "\\$&")}"`);
  return escaped(`{${entries.join(",")}}`);
}

const special = /[\\\t\n\r]/;

const escapes: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
};

function escaped(text: string): string {
  if (!special.test(text)) return text;
  return text.replaceAll(/[\\\t\n\r]/g, (character) => escapes[character]!);
}

const dayMicros = 86_400_000_000n;

/** Julian day of 1970-01-01. Julian days need no era for years before 1. */
const epochDay = 2_440_588n;

/**
 * Formats microseconds since 1970 as Julian day and UTC time (PostgreSQL manual, section 8.5.1).
 */
function time(micros: bigint): string {
  const within = ((micros % dayMicros) + dayMicros) % dayMicros;
  const clock = new Date(Number(within / 1000n)).toISOString().slice(11, 23);
  const rest = String(within % 1000n).padStart(3, "0");
  return `${julianDay((micros - within) / dayMicros)} ${clock}${rest}`;
}

function julianDay(days: number | bigint): string {
  return `J${BigInt(days) + epochDay}`;
}
