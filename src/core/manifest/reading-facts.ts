import { z } from "zod";

const count = z.int().nonnegative();

const readingFacts = z.object({
  format: z.string(),
  delimiter: z
    .string()
    .nullable()
    .describe("Cell separator in CSV and TSV; null for other formats"),
  header: z
    .enum(["record", "comment", "none"])
    .describe("What names the columns: the first record, a comment line before it, or nothing"),
  skipped_lines: count
    .optional()
    .describe(
      "Lines before the first record that belong to no row, such as titles and comments; absent for none",
    ),
  item_column: z.string().describe("Several are joined with commas"),
  item_column_by: z
    .enum(["flag", "name", "share", "format"])
    .describe("Chosen by a flag, a well-known name, the share of indicators, or as only column"),
  item_column_share: z
    .number()
    .nullable()
    .describe("Fraction of its sampled cells that are indicators; null if none were sampled"),
  kind_column: z.string().nullable(),
  kind_column_by: z.enum(["flag", "neighbour"]).nullable(),
});

/** How an input was read: as the flags say, otherwise as detected. */
export type ReadingFacts = Readonly<z.infer<typeof readingFacts>>;

export type SharedFacts = { readonly [Fact in keyof ReadingFacts]: ReadingFacts[Fact] | null };

const { shape } = readingFacts;

/** The facts of a single input or of several: null where those differ. */
export const inputFacts = {
  ...shape,
  format: shape.format.nullable(),
  header: shape.header.nullable(),
  skipped_lines: shape.skipped_lines.nullable(),
  item_column: shape.item_column.nullable(),
  item_column_by: shape.item_column_by.nullable(),
};

export const inputRecord = readingFacts
  .extend({ path: z.string(), bytes: count, rows: count })
  .readonly()
  .describe("One of several inputs");

export type InputRecord = z.infer<typeof inputRecord>;
