import { decodeBytes } from "../../core/bytes.js";
import { ReputeError } from "../../core/errors.js";
import type { ItemKind } from "../../core/item/item.js";
import { openInput } from "../../io/input/open-input.js";
import type { NamedInput } from "../../io/input/types.js";
import { itemFinder } from "./find-items.js";
import { MailReader } from "./mail.js";
import { markupReader, type TextReader } from "./markup.js";

interface ExtractedItem {
  readonly item: string;
  readonly kind: ItemKind;
  /** Where it stands first: the input as named, and the line, counted from 1. */
  readonly file: string;
  readonly line: number;
  count: number;
}

interface ExtractOptions {
  readonly signal: AbortSignal;
  /** Of workbooks. @default the first */
  readonly sheet?: string | undefined;
  /** Called for each file of a folder that is not text, and each sheet or part of a mail that is not read. */
  readonly onNotice: (message: string) => void;
}

/**
 * Finds the distinct items of texts, in order of first appearance. Text is read in blocks; the items
 * are held in memory. What was taken for a file, a version or code is counted, and some of it named.
 *
 * @throws as `openInput`; the signal's reason
 */
export async function extractItems(inputs: readonly NamedInput[], options: ExtractOptions) {
  const { signal } = options;
  const findItems = itemFinder<ExtractedItem>();
  const items = new Map<string, ExtractedItem>();
  let count = 0;
  const words = new Set<string>();
  const onLeftOut = (word: string): void => {
    count += 1;
    if (words.size < mostNamed) words.add(word);
  };
  for (const named of inputs) {
    const name = named.name === "-" ? "stdin" : named.name;
    let before = 1;
    for await (const text of readableText(named, name, options)) {
      signal.throwIfAborted();
      before += findItems(
        text,
        (found, line) => {
          const { kind, value: item } = found.item;
          const first = { item, kind, file: name, line: before + line, count: 0 };
          found.entry ??= items.get(item) ?? first;
          found.entry.count += 1;
          items.set(item, found.entry);
        },
        onLeftOut,
      );
    }
  }
  return { items: [...items.values()], leftOut: { count, words: [...words] } };
}

/** Of the words that were left out. */
const mostNamed = 5;

/** The text of an input in blocks, with as many lines: that of mails and HTML is decoded. */
async function* readableText(
  { input, folder }: NamedInput,
  name: string,
  { sheet, onNotice }: ExtractOptions,
): AsyncGenerator<string> {
  const stored = { gzip: false, sheet, textBytes: blockBytes };
  await using bytes = await openInput(input, stored).catch((error: unknown) => {
    // A folder of mails may hold pictures, too.
    const isBinary = error instanceof ReputeError && error.code === "input_binary";
    if (folder === undefined || !isBinary) throw error;
    onNotice(`skipping ${name}: not text`);
    return null;
  });
  if (bytes === null) return;
  for (const warning of bytes.warnings) onNotice(warning);
  let reader: TextReader | null = null;
  for await (const block of textBlocks(bytes.chunks)) {
    const text = bytes.lineEnd === "cr" ? block.replaceAll("\r", "\n") : block;
    reader ??=
      markupReader(text) ??
      new MailReader((part, line) => {
        onNotice(`${name}, line ${line}: ${part}`);
      });
    yield reader.read(text);
  }
  if (reader !== null) yield reader.end();
}

const blockBytes = 256 * 1024;
const longestLine = 4 * blockBytes;

/** Text in whole lines; what is longer is cut between words. */
async function* textBlocks(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = bytes.length < blockBytes ? 0 : blockEnd(bytes);
    if (end > 0) yield decodeBytes(bytes.subarray(0, end));
    rest = bytes.subarray(end);
  }
  if (rest.length > 0) yield decodeBytes(rest);
}

/** Where to cut; 0 if there is no good place yet. */
function blockEnd(bytes: Buffer): number {
  const after = (separator: string): number => bytes.lastIndexOf(separator) + 1;
  const line = after("\n") || after("\r");
  if (line > 0 || bytes.length < longestLine) return line;
  return Math.max(after(" "), after(","), after('"')) || bytes.length;
}
