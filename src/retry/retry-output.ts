import { UsageError } from "../core/errors.js";
import { detectSinkFormat, formats } from "../formats/registry.js";
import { findWarehouse } from "../outputs/registry.js";
import { findManifest, prefixOfOutput } from "../run/finish/manifest.js";
import { checkOutputName } from "../run/destination/check-paths.js";
import { execute } from "../run/execute.js";
import { copyingEncoder } from "./copying-encoder.js";
import { asOutputName } from "./data-set-rows.js";
import { earlierShape, openEarlierOutput, shapeRefused } from "./earlier-output.js";
import { retryStart, withOutput } from "./retry-start.js";
import type { EnrichJob, Manifest } from "../run/types.js";
import { withoutFailed } from "../core/files/output-names.js";

/** Which rows of an earlier output to look up again. */
interface RowsToRetry {
  /** Of a table: `rep_run_id` of the rows. @default the newest run */
  readonly run?: string | null;
  /** Prefix of the added columns. @default the one that the manifest notes */
  readonly prefix?: string | undefined;
}

/**
 * Looks up the failed and partial rows of an earlier output again and fills them in place. Every
 * other row, and every row that does not improve, is copied verbatim.
 *
 * @throws UsageError `not_an_output`, `retry_needs_file`,
 *   `retry_cannot_read_shape`, `retry_keeps_format`; as `enrich`
 */
export async function retryOutput(
  job: EnrichJob,
  { run = null, prefix }: RowsToRetry = {},
): Promise<Manifest> {
  if (!("path" in job.input)) {
    throw new UsageError("retry_needs_file", "retry reads an earlier output file, not a stream");
  }
  const path = asOutputName(job.input.path);
  const warehouse = findWarehouse(path);
  const fill = warehouse?.fill ?? null;
  if (warehouse !== null && fill !== null) {
    const { retryTable } = await import("./retry-table.js");
    const { output } = job.settings.output;
    const { base, display } = warehouse.target;
    if (output !== "-" && findWarehouse(output)?.target.base !== base) throw fillsInPlace(display);
    return retryTable(job, warehouse, fill, run);
  }
  if (run !== null) {
    throw new UsageError("run_of_table", `--run names a run in a table, and ${path} is a file`, {
      hint: "leave out --run",
    });
  }
  const manifest = await findManifest(path).catch(() => null);
  const own = withOutput(job, { prefix: prefixOfOutput(prefix, manifest) });
  const isSynthetic = manifest?.synthetic === true;
  if (warehouse?.target.kind === "data set") {
    const { retryDataSet } = await import("./retry-data-set.js");
    return retryDataSet(own, path, isSynthetic);
  }
  if (warehouse?.target.kind !== "parquet") return retryText(own, path, isSynthetic);
  const { retryParquet } = await import("./retry-parquet.js");
  return retryParquet(own, path, isSynthetic);
}

async function retryText(job: EnrichJob, path: string, synthetic: boolean): Promise<Manifest> {
  const { output, to, prefix } = job.settings.output;
  refuseWarehouse(path, output);
  if (to === undefined) await checkOutputName(output);
  const detected = detectSinkFormat(withoutFailed(path));
  if (to === "parquet") throw notParquet(path);
  const format = to ?? detected.format ?? "csv";
  if (formats[format].earlier === undefined) throw shapeRefused(`--to ${format}`);
  const target = output === "-" ? null : detectSinkFormat(output).format;
  if (target !== null && target !== format) {
    throw new UsageError(
      "retry_keeps_format",
      `${path} is ${format}, but ${output} would be ${target}`,
      { hint: "retry fills rows in place: give the output the format of the input" },
    );
  }
  const options = { path, format, gzip: detected.gzip, prefix };
  const before = await earlierShape(options);
  return execute(withOutput(job, { to: format, shape: before.shape }), {
    inputFormat: () => Promise.resolve(before.reading.format),
    options: { retry: true },
    synthetic,
    optional: before.optional,
    // Retry exists to complete partial answers.
    partialsFromCache: false,
    open: (resume) => openEarlierOutput(options, before, resume),
    start: retryStart,
    encoder: (encoder) => copyingEncoder(encoder, before, { prefix }),
  });
}

/** The error for a retry of a table into anything else. */
function fillsInPlace(display: string): UsageError {
  return new UsageError(
    "retry_keeps_format",
    `the rows of ${display} are filled in where they are`,
    {
      hint: "leave out -o",
    },
  );
}

function notParquet(path: string): UsageError {
  return new UsageError("retry_keeps_format", `--to parquet, but ${path} is text`, {
    hint: "leave out --to",
  });
}

/** Refuses text that would become a table. */
function refuseWarehouse(path: string, output: string): void {
  const to = output === "-" ? undefined : findWarehouse(output)?.target.display;
  if (to === undefined) return;
  throw new UsageError(
    "retry_keeps_format",
    `retry keeps the format of ${path}, and ${to} is not text`,
    {
      hint: "retry into a text file, or enrich the file of --rejects into the table",
    },
  );
}
