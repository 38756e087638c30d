import { z } from "zod";
import { option, refuse } from "../../core/options.js";
import { parseTlp, type TlpMark, tlpMarks } from "../../core/exclusions/tlp.js";

const sourceFormats = ["csv", "tsv", "json", "ndjson", "text"] as const;

/** A mark of TLP 2.0, however it is written. */
const tlpLimit = z
  .string()
  .transform(
    (text, context): TlpMark => parseTlp(text) ?? refuse(context, `must be ${tlpMarks.join(", ")}`),
  );

const noEncoding =
  "there is no such encoding; there are windows-1252, utf-16le, shift_jis and others";

export const sourceOptions = z.strictObject({
  from: option(z.enum(sourceFormats).optional(), {
    description:
      "Format of the input [default by file extension, else detected]. gzip is detected automatically",
    value: "FORMAT",
  }),
  itemColumn: option(
    z
      .string()
      .min(1)
      .or(
        z
          .array(z.string().min(1))
          .min(1)
          .transform((names) => [...new Set(names)]),
      )
      .optional(),
    {
      description:
        "Column with the item; in NDJSON a dotted path (ips[]: every element of a list). Repeated: a row for each [default: detected in the first 200 records]",
      value: "NAME",
      repeats: "list",
    },
  ),
  kindColumn: option(z.string().min(1).optional(), {
    description:
      "Column with the kind of the item. Overrides detection where its value is known; by default a column of kind names next to the item column is used",
    value: "NAME",
  }),
  tlpColumn: option(z.string().min(1).optional(), {
    description:
      "Column with the TLP mark of the row, for --max-tlp; in NDJSON a dotted path [default: a column named tlp or marking]",
    value: "NAME",
  }),
  maxTlp: option(tlpLimit.optional(), {
    description:
      "Strictest TLP mark that may be sent: clear, green, amber, amber+strict or red. Rows with a stricter, an unknown or no mark are not sent",
    value: "MARK",
  }),
  header: option(z.boolean().optional(), {
    description:
      "The first line is data; columns are named column_1, column_2, …. By default a header is detected; --header forces one",
    negated: true,
  }),
  delimiter: option(
    z
      .string()
      .transform((text) => (text === String.raw`\t` ? "\t" : text))
      .refine((text) => /^[^\p{L}\p{N}_"\r\n]$/u.test(text), {
        error: "must be one character, neither a letter, a digit nor a quote; \\t stands for a tab",
      })
      .optional(),
    {
      description:
        "Separator of cells, such as |, or \\t for a tab [default: detected among comma, semicolon, tab and |]",
      value: "CHAR",
    },
  ),
  comment: option(z.string().min(1).optional(), {
    description: "Skip lines that start with TEXT. By default # if the input starts with it",
    value: "TEXT",
  }),
  encoding: option(z.string().refine(isEncoding, { error: noEncoding }).optional(), {
    description:
      "Encoding of a text input, such as windows-1252, utf-16le or shift_jis [default: UTF-8, or UTF-16 with a byte order mark]",
    value: "NAME",
  }),
  sheet: option(z.string().min(1).optional(), {
    description: "Sheet of an Excel workbook [default: the first]",
    value: "NAME",
  }),
  recursive: option(z.boolean().default(false), {
    description:
      "Read folders with their subfolders, except hidden ones and links to folders. Files are sorted by path",
  }),
});

export type SourceSettings = Partial<z.output<typeof sourceOptions>>;

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== "";
  } catch {
    return false;
  }
}
