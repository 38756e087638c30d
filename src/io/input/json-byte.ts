/** Bytes that structure a JSON document. */
export const byte = {
  tab: 0x09,
  lineFeed: 0x0a,
  return: 0x0d,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  backslash: 0x5c,
  openList: 0x5b,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

export function isBracket(code: number): boolean {
  return (
    code === byte.openList ||
    code === byte.closeList ||
    code === byte.openObject ||
    code === byte.closeObject
  );
}
