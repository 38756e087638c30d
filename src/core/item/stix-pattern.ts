/** One comparison of an observed value: `ipv4-addr:value = '…'`, `file:hashes.'SHA-1' = '…'`. */
const comparison =
  /[\w-]+:(?:[\w.[\]*-]*\.)?(?:value|hashes\.(?:'[^']*'|[\w-]+))\s*(?:=|==|IN|ISSUBSET)\s*(\('[^)]*'\)|'(?:[^'\\]|\\.)*')/g;
const pattern = /^[([\s]*[\w-]+:[\w.'[\]*-]+\s*(?:NOT\s+)?(?:!?=|[<>]|IN\b|LIKE\b|MATCHES\b|IS)/;
const text = /'((?:[^'\\]|\\.)*)'/g;

/**
 * The values that a STIX pattern compares addresses, names and hashes with; null if the text is not
 * a pattern. Names of files and the like are not among them.
 */
export function patternValues(plain: string): readonly string[] | null {
  if (!plain.startsWith("[") && !plain.startsWith("(")) return null;
  if (!pattern.test(plain)) return null;
  return Array.from(plain.matchAll(comparison), ([, values = ""]) =>
    Array.from(values.matchAll(text), ([, value = ""]) => value.replaceAll(/\\(.)/g, "$1")),
  ).flat();
}
