import { z } from "zod";
import { type MadeUp, countedVerdicts, findingStatuses } from "./finding.js";
import { itemKinds } from "./item/item.js";
import { UsageError } from "./errors.js";

const count = z.int().nonnegative();

/** How an input was read: as the flags say, otherwise as detected. */
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

const inputRecord = readingFacts
  .extend({ path: z.string(), bytes: count, rows: count })
  .readonly()
  .describe("One of several inputs");

export const exitReasons = [
  "done",
  "rows_failed",
  "too_many_failed",
  "budget",
  "deadline",
  "quota",
  "interrupted",
  "nothing_to_look_up",
  "too_few_rows",
  "refused",
  "wrong_service",
  "unreachable",
  "io",
  "usage",
] as const;

export type ExitReason = (typeof exitReasons)[number];

/** Why the rows of a finished run are kept as `OUT.failed`: they must not replace good ones. */
const refusals = ["too_many_failed", "nothing_to_look_up", "too_few_rows"] as const;

export type Refusal = (typeof refusals)[number];

export function isRefusal(reason: string | undefined): reason is Refusal {
  return refusals.some((each) => each === reason);
}

/** How the answers of a run are made up; undefined if they are those of a real service. */
export function madeUpOf(
  manifest: Partial<Pick<Manifest, "synthetic" | "sample">>,
): MadeUp | undefined {
  if (manifest.synthetic === true) return "invented";
  return manifest.sample === true ? "sample" : undefined;
}

const counts = z.record(z.string(), count).readonly();

const statuses = z.record(z.enum(findingStatuses), count).readonly();
const verdicts = z.record(z.enum(countedVerdicts), count).readonly();

const requests = z
  .object({ total: count, outcomes: counts })
  .readonly()
  .describe("Requests to one endpoint: `outcomes` counts them by HTTP status or transport fault");

export type RequestCounts = z.infer<typeof requests>;

const tagExport = z
  .object({
    tag: z.string(),
    status: z
      .enum(["exported", "unchanged", "failed"])
      .describe("unchanged: exported, with the same addresses as before"),
    snapshot: z.string().nullable().describe("Snapshot that was read; null on failure"),
    total: count.nullable().describe("Addresses in the list; null on failure"),
    added: count.nullable(),
    removed: count.nullable(),
    files: z.array(z.string()).readonly().describe("Paths of its files; empty on failure"),
    error: z.object({ code: z.string(), message: z.string() }).readonly().nullable(),
  })
  .readonly();

export type TagExportRecord = z.infer<typeof tagExport>;

const exclusion = z
  .object({
    path: z.string(),
    entries: count,
    sha256: z.string(),
    rows: count.describe("Rows that the list held back; a row counts for the first one that does"),
  })
  .readonly();

const leftOut = z
  .object({
    distinct: count.describe("With --distinct: rows that repeat an item or have none"),
    only: count.describe("With --only: rows with another verdict or status"),
    statuses,
    verdicts,
  })
  .readonly();

/** Rows that a retry looked up again: status before → status now → rows. */
const retried = z
  .partialRecord(
    z.enum(findingStatuses),
    z.partialRecord(z.enum(findingStatuses), count).readonly(),
  )
  .readonly();

const ending = {
  exit_reason: z.enum(exitReasons),
  exit_code: z
    .int()
    .nullable()
    .describe("Exit code of the program; null as long as it is unknown: running, or killed"),
  resumable: z.boolean().describe("The same command with --resume continues the run"),
  error: z
    .object({ code: z.string(), message: z.string(), hint: z.string().nullable() })
    .readonly()
    .optional()
    .describe("The error that ended the run"),
};

export type RunEnding = Readonly<z.infer<z.ZodObject<typeof ending>>>;

const outputSchema = z.object({
  path: z.string().nullable().describe("As given, without a password; null for stdout"),
  format: z.string(),
  bytes: count.nullable().describe("Null for a database, which holds more than this run"),
  rows: count,
  sha256: z.string().nullable().describe("Null for stdout and databases"),
  prefix: z.string().optional().describe("Prefix of the added columns, if it is not the default"),
  indicators: count
    .optional()
    .describe("Indicators in a STIX bundle, which omits rows that accuse nothing"),
  without_key: count
    .optional()
    .describe("With --mode merge: rows that lack a value of the key, and are not stored"),
});

/**
 * The record of a run: `OUT.manifest.json`, for an unfinished run `OUT.state/manifest.json`, and the
 * output of `--json`. Its `exit_reason` is `done` or `rows_failed` for rows in OUT, and one of
 * `refusals` if they are kept as `OUT.failed`.
 */
export const manifestSchema = z.object({
  schema_version: z.int(),
  program: z.object({ name: z.string(), version: z.string() }).readonly(),
  run_id: z.string().describe("UUIDv7: later runs sort later. A resumed run keeps it"),
  command: z.array(z.string()).readonly().describe("The command line, without secrets"),
  input: z
    .object({
      path: z
        .string()
        .nullable()
        .describe("Null for a stream, and for several inputs, which are in `inputs`"),
      ...readingFacts.partial().shape,
      bytes: count,
      rows: count,
      grew_while_interrupted: z.boolean(),
    })
    .readonly(),
  inputs: z.array(inputRecord).readonly().optional().describe("Each of several inputs"),
  skipped_inputs: z
    .array(z.object({ path: z.string(), reason: z.string() }).readonly())
    .readonly()
    .optional()
    .describe("Files of folders that were not read"),
  output: outputSchema.readonly(),
  left_out: leftOut
    .optional()
    .describe(
      "With --distinct or --only: rows that are not in the output. All counts of rows but `output.rows` include them",
    ),
  sampled: count.optional().describe("With --limit: at most this many rows were read"),
  statuses: statuses.describe("Rows by status"),
  verdicts: verdicts.describe("Rows by verdict; `unknown` counts those without one"),
  retried: retried
    .optional()
    .describe("Of a retry: the failed and partial rows by status before, then by status now"),
  kinds: z.record(z.enum(itemKinds), count).readonly(),
  requests: z.record(z.string(), requests).readonly(),
  sources: counts.describe("Rows by the origin of their finding"),
  took_over: count
    .optional()
    .describe("Answers taken over from an interrupted run that this one replaced"),
  earlier_rows: count
    .optional()
    .describe("Rows of the earlier output, which --min-rows compares with this one's"),
  unsupported: counts.describe("Rows that were not looked up, by error code"),
  elsewhere: counts
    .optional()
    .describe(
      "Rows with an item in a column that was not looked up, by column: estimated from the first 200 rows and every hundredth one after. Absent for none",
    ),
  inside_cells: count
    .optional()
    .describe("Items inside cells and lines that are no item as a whole, estimated likewise"),
  exclusions: z
    .array(exclusion)
    .readonly()
    .optional()
    .describe("The lists of what was not sent, in the order in which they were given"),
  tlp: z
    .object({
      max: z.string().describe("The strictest mark that was sent"),
      rows: count.describe("Rows that were held back"),
    })
    .readonly()
    .optional()
    .describe("With --max-tlp: what was not sent because of its TLP mark"),
  errors: counts.describe("Rows that are invalid or failed, by error code"),
  tags: counts.describe("Rows by tag"),
  tag_exports: z
    .array(tagExport)
    .readonly()
    .optional()
    .describe("With --tag-ips, one entry per tag; absent until the export has finished"),
  drift: counts.describe("Answers with a value that the interface does not list, by member=value"),
  warnings: counts.describe("Number of times that each warning was given"),
  warned_rows: counts.describe("First row of each warning about rows"),
  synthetic: z.literal(true).optional().describe("The service said that its answers are invented"),
  sample: z
    .literal(true)
    .optional()
    .describe("The answers are those of the embedded service's sample data"),
  started_at: z.string(),
  ended_at: z.string(),
  seconds: z.number().describe("Duration, excluding interruptions"),
  resumed: count.describe("Number of times the run was resumed"),
  ...ending,
});

export type Manifest = Readonly<z.infer<typeof manifestSchema>>;

/** A manifest that may be another program's: any member may be missing. */
export type FoundManifest = Partial<Omit<Manifest, "output">> & {
  readonly output?: Partial<Manifest["output"]>;
};

/** Members that are not as in the schema count as missing. */
function lenient(shape: Readonly<Record<string, z.ZodType>>) {
  const maybe = (member: z.ZodType) => member.optional().catch(undefined);
  const members = Object.entries(shape).map(([name, member]) => [name, maybe(member)]);
  return z.object(Object.fromEntries(members) as Record<string, z.ZodType>);
}

const found = lenient({ ...manifestSchema.shape, output: lenient(outputSchema.shape) });

/**
 * Reads a manifest.
 *
 * @param value parsed JSON; null for none
 * @throws UsageError `manifest_unreadable` if it is no object
 */
export function parseManifest(value: unknown, path: string): FoundManifest | null {
  if (value === null) return null;
  const { data } = found.safeParse(value);
  if (data !== undefined) return data;
  throw new UsageError("manifest_unreadable", `${path} is not a manifest`, {
    hint: "restore it from a copy",
  });
}
