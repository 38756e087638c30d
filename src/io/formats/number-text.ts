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
