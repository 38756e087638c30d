import { UsageError } from "../../core/errors.js";
import { shellWord } from "../../core/text/quantity.js";
import { indicatorWeight } from "../../core/item/recognise.js";
import { limits } from "../reading/lines.js";
import type { ParsedLine } from "./ndjson-row.js";

/** Whether the first lines of an input may be those of NDJSON, with some broken ones among them. */
export function mayBeNdjson(lines: readonly ParsedLine[]): boolean {
  return !startsDocument(lines) && lastWithoutObject(lines) === undefined;
}

/** Whether these lines are as long as one may be. */
export function isLong(lines: readonly ParsedLine[]): boolean {
  const [first, last] = [lines[0], lines.at(-1)];
  return first !== undefined && last!.line.end - first.line.end > limits.recordBytes;
}

/** The error for an input that `mayBeNdjson` refuses. */
export async function notNdjson(input: string, lines: readonly ParsedLine[]): Promise<UsageError> {
  if (startsDocument(lines)) {
    const isArray = lines[0]!.json.startsWith("[");
    return new UsageError(
      isArray ? "input_json_array" : "input_not_ndjson",
      `${input} is ${isArray ? "one JSON array" : "JSON over several lines"}; repute reads NDJSON, one object per line`,
      { hint: await conversion(input, lines.map(({ json }) => json).join("\n")) },
    );
  }
  const last = lastWithoutObject(lines)!.line.number;
  return new UsageError(
    "input_not_ndjson",
    `${input} doesn't look like NDJSON: no JSON object up to line ${last}`,
    { hint: "set the format: --from csv|tsv|text" },
  );
}

/** Whether the first line starts an array, or an object that goes on in the next line. */
function startsDocument([first]: readonly ParsedLine[]): boolean {
  return first !== undefined && first.object === null && documentStart.test(first.json);
}

const documentStart = /^(?:\[\s*(?:[{["]|\]?$)|\{(?:.*[{[,])?$)/;

/** The line up to which an object should have come; undefined if one has, or still may. */
function lastWithoutObject(lines: readonly ParsedLine[]): ParsedLine | undefined {
  const object = lines.findIndex((line) => line.object !== null);
  const before = object === -1 ? lines : lines.slice(0, object);
  return isLong(before) ? before.at(-1) : before[limits.linesBeforeObject];
}

/**
 * The command that makes NDJSON of a JSON document, or a list.
 *
 * @param head the start of the document
 */
async function conversion(input: string, head: string): Promise<string> {
  const { parseDocument } = await import("yaml");
  if (threatReport.test(head)) {
    return `find the items in it: repute extract ${shellWord(input)} | repute enrich - -o OUT`;
  }
  // YAML reads JSON, and what there is of a document that is cut off.
  const { filter, isTexts } = filterFor(parseDocument(head).toJS() as unknown);
  const jq = `jq ${isTexts ? "-r" : "-c"} ${shellWord(filter)}`;
  const made = `repute enrich --from ${isTexts ? "text" : "ndjson"}`;
  if (input === "stdin" || input.includes("://")) return `convert it: … | ${jq} | ${made}`;
  const file = shellWord(input);
  const isGzip = /\.gz(?:ip)?$/i.test(input);
  return `convert it: ${isGzip ? `gzip -dc ${file} | ${jq}` : `${jq} ${file}`} | ${made}`;
}

/** A STIX bundle or a MISP event, whose items are not in one member. */
const threatReport = /"type"\s*:\s*"bundle"|"spec_version"\s*:|"(?:Event|Attribute)"\s*:/;

interface Filter {
  /** In the language of jq. */
  readonly filter: string;
  /** It yields texts rather than objects. */
  readonly isTexts: boolean;
}

/** A filter for the records of a document: the elements of its list, or the document. */
function filterFor(document: unknown): Filter {
  const listIn = (path: string, [first]: readonly unknown[]): Filter => ({
    filter: `${path}[]`,
    isTexts: typeof first === "string",
  });
  if (Array.isArray(document)) return listIn(".", document);
  const members = Object.entries(document ?? {}) as [string, unknown][];
  const [only, ...more] = members.filter(([, value]) => Array.isArray(value) && isList(value));
  if (only === undefined || more.length > 0) return { filter: ".", isTexts: false };
  const [name, list] = only;
  const path = /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `.[${JSON.stringify(name)}]`;
  return listIn(path, list as readonly unknown[]);
}

/** Whether an array holds objects or items. */
function isList([first]: readonly unknown[]): boolean {
  if (typeof first === "string") return indicatorWeight(first) === 1;
  return typeof first === "object" && first !== null;
}
