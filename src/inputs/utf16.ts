export type Utf16 = "utf-16le" | "utf-16be";

/** UTF-16 by its byte order mark, or null. */
export function utf16Of(head: Buffer): Utf16 | null {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  return null;
}

/** The same text in UTF-8, without the byte order mark; what is no UTF-16 becomes U+FFFD. */
export async function* transcode(
  chunks: AsyncGenerator<Buffer>,
  encoding: Utf16,
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true });
    if (text !== "") yield Buffer.from(text, "utf8");
  }
  const rest = decoder.decode();
  if (rest !== "") yield Buffer.from(rest, "utf8");
}
