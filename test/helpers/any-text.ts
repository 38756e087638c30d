import fc from "fast-check";

/**
 * Text of any code points, ASCII in a third of the places. The unit `binary` of fast-check first
 * lists all code points, which takes more than a second.
 */
export function anyText(
  constraints: Omit<fc.StringConstraints, "unit"> = {},
): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: codePoint });
}

const codePoint = fc
  .oneof(
    fc.integer({ min: 0, max: 0x7f }),
    fc.integer({ min: 0x80, max: 0xd7ff }),
    fc.integer({ min: 0xe000, max: 0x10ffff }),
  )
  .map((code) => String.fromCodePoint(code));
