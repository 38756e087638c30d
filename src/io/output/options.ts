import { z } from "zod";
import { columns } from "../../core/columns.js";
import { countedVerdicts, findingStatuses } from "../../core/finding.js";
import { namesAmong, option } from "../../core/options.js";
import { esActions, esIds, sinkFormats } from "../formats/types.js";

/**
 * What a table does with the rows of a run: adds them, keeps the newest row per key, or holds only
 * them.
 */
const tableModes = ["append", "merge", "replace"] as const;

export type TableMode = (typeof tableModes)[number];

export const outputFormats = [...sinkFormats, "parquet"] as const;

/** Prefix of the added columns if `--prefix` is not given. */
export const defaultPrefix = "rep_";

const prefixText = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,31}$/, "must begin with a letter; letters, digits and _ only");

/** Prefix of the added columns of an output that is read. */
export const readPrefix = option(prefixText.optional(), {
  description: `Prefix of the added columns [default: as the manifest says, else ${defaultPrefix}]`,
  value: "TEXT",
});

const columnNames = namesAmong(
  columns.map(({ name }) => name),
  "column",
).transform((names) => (names.includes("status") ? names : ["status", ...names]));

const columnList = z
  .union([z.string().transform((text) => text.split(",")), z.array(z.string())])
  .pipe(z.array(z.string().trim().min(1)).min(1))
  .transform((names): readonly string[] => [...new Set(names)]);

/** What a table does with rows that it has already. */
export const tableOptions = z.strictObject({
  mode: option(z.enum(tableModes).default("append"), {
    description:
      "What a table does with the rows. append adds them. merge keeps one row per item, the newest; rows without an item are counted, not stored. replace replaces all rows of the table, once the run is complete",
    value: "MODE",
  }),
  key: option(columnList.optional(), {
    description:
      "With --mode merge: keep one row per value of these columns of the table [default: rep_kind,rep_item]",
    value: "LIST",
  }),
});

/** Where rows go, and what is written of each. */
export const writingOptions = z.strictObject({
  output: option(z.string().min(1).prefault("-"), {
    description:
      "Output: a file, s3://BUCKET/KEY, duckdb:FILE?table=NAME, postgres://…?table=NAME, or - for stdout. In the name of a file or folder, {date} is the day on which the run starts (UTC), {run_id} its identifier; such folders are created",
    value: "OUT",
    alias: "o",
  }),
  to: option(z.enum(outputFormats).optional(), {
    description:
      "Format of the output [default by file extension, else ndjson for NDJSON input and csv otherwise]. stix and es-bulk are shapes for security platforms and are written only when named here",
    value: "FORMAT",
  }),
  columns: option(columnNames.optional(), {
    description:
      "Add only these columns, in this order, named without the prefix: verdict,tags,asn. The status is always there, first if it is not listed; the input's columns stay. Flat rows only: not for nested NDJSON and the shapes of security platforms",
    value: "LIST",
  }),
  inputColumns: option(
    columnList.transform((names) => (names.join() === "none" ? [] : names)).optional(),
    {
      description:
        "Write only these columns of the input, in this order, or none. The item is looked up all the same",
      value: "LIST",
    },
  ),
  only: option(
    namesAmong([...countedVerdicts, ...findingStatuses], "verdict or status").optional(),
    {
      description:
        "Write only rows with one of these verdicts or statuses: malicious,suspicious,listed, or failed,partial. none and unknown are verdicts, too. Other rows are counted, not written",
      value: "LIST",
    },
  ),
  distinct: option(z.boolean().default(false), {
    description:
      "Write one row per kind and item, the first, for a lookup table. Repeated rows and rows without an item are counted, not written",
  }),
  prefix: option(prefixText.default(defaultPrefix), {
    description: "Prefix of the added columns",
    value: "TEXT",
  }),
  shape: option(z.enum(["flat", "nested"]).optional(), {
    description:
      "Shape of NDJSON output [default nested]. nested adds one member, rep, with the answer as received, flat adds the columns",
    value: "SHAPE",
  }),
  esAction: option(z.enum(esActions).optional(), {
    description:
      "Action of --to es-bulk [default index]. index replaces a document of the same _id; create, which data streams need, refuses it (409)",
  }),
  esId: option(z.enum(esIds).optional(), {
    description:
      "What makes the _id of a document of --to es-bulk [default row]. row: the row's number and columns; item: its kind and item, so that a later night replaces the document, whatever its row",
  }),
  raw: option(z.boolean().default(false), {
    description:
      "Add the results as received as the last columns of flat output: query and quick check, as JSON text",
  }),
  tagIps: option(z.string().min(1).optional(), {
    description:
      "After the rows, export the IP addresses of every tag seen in the run to this folder. See repute tags export",
    value: "DIR",
  }),
});

export const sinkOptions = z.strictObject({ ...writingOptions.shape, ...tableOptions.shape });

export type SinkSettings = z.output<typeof sinkOptions>;
