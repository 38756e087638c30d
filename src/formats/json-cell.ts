/**
 * JSON text as databases store it, or undefined if a database may refuse it. Escapes of U+0000 and of
 * lone surrogates become these characters, which no output stores: they are replaced with a warning.
 */
export function jsonCell(text: string): string | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return mayBeHuge.test(text) && mayBeHuge.test(text.replaceAll(strings, '""')) ? undefined : text;
}

/** Turns escapes that PostgreSQL refuses in jsonb (manual, section 8.14) into their characters. */
export function plainEscapes(json: string): string {
  if (!json.includes("\\u")) return json;
  return json.replaceAll(escapes, (escape, hex: string | undefined) => {
    const code = Number.parseInt(hex ?? "20", 16);
    return code === 0 || (code >= 0xd800 && code <= 0xdfff) ? String.fromCharCode(code) : escape;
  });
}

const escapes =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u([\da-fA-F]{4})|\\[^u]/g;

/** Numbers that may exceed numeric in PostgreSQL (manual, table 8.2). */
const mayBeHuge = /\de[+-]?\d{5}|\d{10000}/i;

const strings = /"(?:[^"\\]|\\[^])*"/g;
