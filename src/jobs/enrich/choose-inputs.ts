import { statSync } from "node:fs";
import { shellWord } from "../../core/wording/quantity.js";
import { ReputeError, UsageError } from "../../core/errors.js";
import { columnShare } from "../../io/formats/columns/rate-columns.js";
import { minShare } from "../../io/formats/columns/name-columns.js";
import { limits } from "../../io/formats/reading/lines.js";
import { type FolderSettings, listInputs, skippedNotices } from "../../io/input/list-inputs.js";
import type {
  NamedInput,
  OpenedSource,
  RunInput,
  SkippedFile,
  SourceInput,
} from "../../io/input/types.js";
import { isFolder } from "../../core/files/folders.js";
import { isObjectPrefix } from "../../io/s3/address.js";
import { parseInput } from "../../io/output/registry.js";
import { readingOf } from "./rows/reading.js";
import type { EnrichJob, ReadingSettings } from "./types.js";

type InputStream = Extract<SourceInput, { readonly stream: unknown }>;

/**
 * The input that names stand for: a file, `-` for the stream, or several files and folders. Files of a
 * folder that hold no indicators, or objects among rows, are skipped. A file that is named itself is
 * not: here or when it is opened, it is an error.
 *
 * @throws UsageError `input_folder_empty`, `column_not_found`; as `listInputs` and as opening a file
 */
export async function inputNamed(
  names: readonly string[],
  stream: () => InputStream,
  settings: ReadingSettings & FolderSettings,
  { onNotice, onWarning }: Required<Pick<EnrichJob, "onNotice" | "onWarning">>,
): Promise<RunInput> {
  const [path = "-"] = names;
  if (names.length <= 1 && !isFolder(path) && !isObjectPrefix(path)) {
    return path === "-" ? stream() : parseInput(path);
  }
  const listed = await listInputs(names, stream, { ...settings, parse: parseInput });
  const sorted: { readonly input: NamedInput; readonly found: Found }[] = [];
  for (const input of listed.inputs) sorted.push({ input, found: await sortOf(input, settings) });
  const sort = sortOfRun(sorted);
  const inputs: NamedInput[] = [];
  const others: SkippedFile[] = [];
  for (const { input, found } of sorted) {
    const reason = reasonToSkip(found, sort);
    if (input.folder === undefined || reason === null) inputs.push(input);
    else others.push({ folder: input.folder, path: input.name, reason });
  }
  mustBeSome(inputs, others);
  // Those of names that repute does not read, and those of content that it cannot use.
  for (const notice of skippedNotices(listed.skipped)) onNotice(notice);
  for (const warning of skippedNotices(others)) onWarning(warning);
  return { inputs, skipped: [...listed.skipped, ...others] };
}

type Sort = "objects" | "rows";

/** The sort of an input, null for one of any sort, or why it holds nothing to look up. */
type Found = Sort | null | { readonly lacks: string };

async function sortOf(named: NamedInput, settings: ReadingSettings): Promise<Found> {
  const { name, input, folder } = named;
  // A stream can be read only once, and so can a pipe.
  if (!("path" in input) || input.table !== undefined) return null;
  const facts = statSync(input.path, { throwIfNoEntry: false });
  if (facts?.isFIFO() || facts?.isCharacterDevice()) return null;
  if (folder !== undefined) return contentOf(input, settings);
  const format = await readingOf(input, settings).inputFormat();
  const isGuess = format === "text" && settings.from === undefined;
  if (!isGuess || (await contentOf(input, settings)) === "rows") {
    return format === "ndjson" ? "objects" : "rows";
  }
  const message = `${name}: fewer than half of its first lines are indicators`;
  throw new UsageError("column_not_found", message, {
    hint: `leave it out, say what it is with --from, or find the items in it: repute extract ${shellWord(name)} | repute enrich - -o OUT`,
  });
}

async function contentOf(input: SourceInput, settings: ReadingSettings): Promise<Found> {
  try {
    const source = await readingOf(input, { ...settings, isOneOfSeveral: true }).open(null);
    try {
      const { format } = source.reading;
      if (format === "ndjson") return "objects";
      return format === "text" && !(await isList(source)) ? noIndicators : "rows";
    } finally {
      await source.close();
    }
  } catch (error) {
    const lacks = error instanceof ReputeError ? lackIn(error) : null;
    if (lacks === null) throw error;
    return { lacks };
  }
}

const noIndicators = { lacks: "no indicators" };

/** What a file lacks that fails to open; null if it may be an input that is damaged. */
function lackIn({ code, message }: ReputeError): string | null {
  if (code === "column_not_found") return noIndicators.lacks;
  if (code === "input_not_ndjson" || code === "input_json_rows" || code === "input_binary") {
    return / is ([^;]+); repute reads /.exec(message)?.[1] ?? "not NDJSON";
  }
  return null;
}

/** Whether half of the first lines are indicators, as in a column of items. */
async function isList({ rows }: OpenedSource): Promise<boolean> {
  const cells: string[] = [];
  for await (const batch of rows) {
    cells.push(...batch.map(({ itemText }) => itemText));
    if (cells.length >= limits.sampleRecords) break;
  }
  const { cells: filled, share } = columnShare(cells.slice(0, limits.sampleRecords));
  return filled === 0 || share >= minShare;
}

/** The sort of the inputs that were named themselves, else that of most files in the folders. */
function sortOfRun(inputs: readonly { readonly input: NamedInput; readonly found: Found }[]): Sort {
  const named = inputs.filter(({ input }) => input.folder === undefined);
  const decisive = named.some(({ found }) => found !== null) ? named : inputs;
  const count = (sort: Sort): number => decisive.filter(({ found }) => found === sort).length;
  return count("objects") > count("rows") ? "objects" : "rows";
}

function reasonToSkip(found: Found, sort: Sort): string | null {
  if (found === null || found === sort) return null;
  return typeof found === "object" ? found.lacks : `${found} among ${sort}`;
}

function mustBeSome(kept: readonly NamedInput[], skipped: readonly SkippedFile[]): void {
  const empty = skipped.find(({ folder }) => !kept.some((input) => input.folder === folder));
  if (empty === undefined) return;
  const [notice = ""] = skippedNotices(skipped.filter(({ folder }) => folder === empty.folder));
  throw new UsageError("input_folder_empty", `${empty.folder} has no file to read`, {
    hint: `${notice}; name the files one by one to see what is wrong with them`,
  });
}
