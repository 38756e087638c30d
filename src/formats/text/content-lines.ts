import type { Line } from "../lines.js";

/** Lines without the blank ones and without those that `isComment` knows, in batches, none empty. */
export async function* contentLines(
  batches: AsyncIterable<readonly Line[]>,
  isComment: (text: string) => boolean,
): AsyncGenerator<readonly Line[]> {
  for await (const lines of batches) {
    const content = lines.filter(({ text }) => !isBlank(text) && !isComment(text));
    if (content.length > 0) yield content;
  }
}

function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  // Most lines begin with a printable ASCII character, which settles it.
  return !(first > 0x20 && first < 0x7f) && text.trim() === "";
}
