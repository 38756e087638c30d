import { z } from "zod";
import { raceAbort } from "../../core/abort.js";
import { UsageError } from "../../core/errors.js";
import { itemKinds } from "../../core/item/item.js";
import { option } from "../../core/options.js";
import { counted, formatCount } from "../../core/wording/quantity.js";
import { extractItems } from "../../jobs/extract/extract-items.js";
import { csvPieces } from "../../io/formats/csv/csv-output.js";
import type { Output } from "../../io/output/output.js";
import { parseOutput } from "../../io/output/registry.js";
import { listInputs, skippedNotices } from "../../io/input/list-inputs.js";
import { sourceOptions } from "../../io/formats/source-options.js";
import { inputPaths } from "../../io/input/types.js";
import { writeLines } from "../../io/output/text/write-lines.js";
import { checkOutput, checkOutputName } from "../../jobs/enrich/destination/choose-output.js";
import { defineCommand } from "../command.js";
import { cliOptions } from "../options/cli-options.js";
import { writeOut } from "../terminal/data-output.js";
import { inputNames } from "./runs/enrich-job.js";

const { quiet } = cliOptions.shape;

const outputFormats = ["csv", "tsv", "ndjson"] as const;

const { recursive, sheet } = sourceOptions.shape;

export const extractCommand = defineCommand({
  name: "extract",
  usage: "[file...] [-o OUT] [flags]",
  summary: "find the items in any text, one row each",
  description: [
    "Finds every IP address, domain, URL, SHA1 hash, wallet and e-mail address in reports, mails, logs, and STIX or MISP JSON, defanged or not. Writes one row per distinct item, in order of first appearance: item, kind, file and line of its first mention, and the number of mentions. No request is sent.",
    "File names, version numbers, code, URLs of internal hosts, and the servers and message IDs in mail headers are left out; stderr counts them. A name that could be a host, a file or code (.pl, .rs, .sh, .zip, .app) is a host if it is defanged or has a scheme, and otherwise unless the text around it says file or code.",
    "Mails are decoded (quoted-printable and base64 parts, character sets), and so is HTML; a part that cannot be read is named on stderr. For PDF, read the text: pdftotext report.pdf - | repute extract.",
    "Text is read in blocks; distinct items are held in memory, about 300 bytes each.",
  ],
  operands: [
    [
      "file",
      "texts, mails, HTML, folders of them, or - for stdin [default -]; gzip and UTF-16 are detected",
    ],
  ],
  groups: {
    Input: { sheet, recursive },
    Output: {
      output: option(z.string().min(1).prefault("-"), {
        description: "Output: a file, s3://BUCKET/KEY, or - for stdout",
        value: "OUT",
        alias: "o",
      }),
      to: option(z.enum(outputFormats).optional(), {
        description: "Format of the output [default by file extension, else csv]",
        value: "FORMAT",
      }),
    },
    Run: { quiet },
  },
  examples: {
    "repute extract report.txt | repute enrich - -o out.csv":
      "look up what a report names; REPUTE_INTEL_URL holds the service's address",
    "repute extract mails/ --recursive -o found.csv":
      "find the items of all files in a folder and its subfolders",
  },
  run: async ({ settings, operands, context }) => {
    const { recursive, sheet } = settings;
    const output = parseOutput(settings.output);
    const { signal, reporter } = context;
    const { onNotice } = reporter.listener;
    const names = inputNames(operands, context, "text");
    const listed = { output: settings.output, recursive, anyFile: true };
    const stdin = () => ({ stream: context.stdin(), name: "stdin" });
    const { inputs, skipped } = await listInputs(names, stdin, listed);
    for (const notice of skippedNotices(skipped)) onNotice(notice);
    const format = formatOf(settings.to, output);
    if (settings.to === undefined) await checkOutputName(output);
    await checkOutput(output, inputPaths({ inputs }));
    // Reading from a silent pipe would not notice an abort.
    const found = extractItems(inputs, { signal, sheet, onNotice });
    const { items, leftOut } = await raceAbort(found, signal);
    const print = (text: string) => writeOut(context, text);
    await writeLines(output, linesOf(items, format), { signal, print });
    if (leftOut.count > 0) onNotice(leftOutNotice(leftOut));
    onNotice(summaryOf(items));
  },
});

type OutputFormat = (typeof outputFormats)[number];

/** @throws UsageError `unknown_output` for other formats, and for gzip */
function formatOf(to: OutputFormat | undefined, { given, format, gzip }: Output): OutputFormat {
  const known = outputFormats.find((name) => name === (to ?? format ?? "csv"));
  if (known !== undefined && !gzip) return known;
  throw new UsageError("unknown_output", `extract does not write ${given}`, {
    hint: "name a .csv, .tsv or .ndjson file",
  });
}

type Extracted = Awaited<ReturnType<typeof extractItems>>;
type ExtractedItem = Extracted["items"][number];

const columns = ["item", "kind", "file", "line", "count"] as const;

function linesOf(items: readonly ExtractedItem[], format: OutputFormat): Iterable<string> {
  if (format === "ndjson") return items.map((item) => `${JSON.stringify(item)}\n`);
  return csvPieces(format === "csv" ? "," : "\t", recordsOf(items));
}

function* recordsOf(items: readonly ExtractedItem[]): Generator<readonly string[]> {
  yield columns;
  for (const item of items) yield columns.map((column) => String(item[column]));
}

function leftOutNotice({ count, words }: Extracted["leftOut"]): string {
  const named = words.join(", ");
  const more = count > words.length ? ", …" : "";
  return `left out as file, version, code or internal host: ${counted(count, "mention")} (${named}${more}); a defanged name (a[.]zip) is always an item`;
}

function summaryOf(items: readonly ExtractedItem[]): string {
  if (items.length === 0) return "no items found";
  const kinds = itemKinds.flatMap((kind) => {
    const count = items.filter((item) => item.kind === kind).length;
    return count === 0 ? [] : [`${formatCount(count)} ${kind}`];
  });
  return `${counted(items.length, "item")} found: ${kinds.join(", ")}`;
}
