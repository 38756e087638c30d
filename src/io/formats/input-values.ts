/**
 * A value of a table or Parquet file that is read as input: exact, and independent of the driver.
 * Times are RFC 3339 texts.
 */
export type InputValue = null | string | boolean | bigint | JsonText | readonly InputValue[];

/** A number with all its digits, or a structure, as JSON text. */
export class JsonText {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** A number as JSON text; NaN and the infinities, which JSON lacks, as text. */
export function numberValue(text: string): InputValue {
  return /^-?\d/.test(text) ? new JsonText(text) : text;
}

/** The text of a value in a cell: "" for null, lists joined with `|`. */
export function cellOf(value: InputValue): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (isList(value)) {
    return value.every(isPlainEntry) ? value.map(cellOf).join("|") : jsonOf(value);
  }
  return value instanceof JsonText ? value.json : String(value);
}

export function jsonOf(value: InputValue): string {
  if (value === null) return "null";
  if (typeof value === "string") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(jsonOf).join(",")}]`;
  return value instanceof JsonText ? value.json : String(value);
}

function isList(value: InputValue): value is readonly InputValue[] {
  return Array.isArray(value);
}

/** Whether joining the entries with `|` keeps them apart. */
function isPlainEntry(entry: InputValue): boolean {
  return entry !== null && !isList(entry) && !cellOf(entry).includes("|");
}

/** A decimal number from its digits without the point. */
export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return String(unscaled * 10n ** BigInt(-scale));
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  const point = digits.length - scale;
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The shortest text of a number, with the sign of zero. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** The shortest text of a 32-bit float, which as a 64-bit one would have false digits. */
export function floatText(value: number): string {
  if (value === 0) return numberText(value);
  for (let precision = 6; precision < 10; precision++) {
    const short = Number(value.toPrecision(precision));
    if (Math.fround(short) === value) return numberText(short);
  }
  return numberText(value);
}
