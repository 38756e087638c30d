import { columns, schemaVersion } from "../../core/columns.js";
import { UsageError } from "../../core/errors.js";
import { withoutFailed } from "../../core/files/make-folder.js";
import { detectSinkFormat, formats } from "../../formats/registry.js";
import type { Encoder } from "../../formats/types.js";
import { findWarehouse } from "../../outputs/warehouse/registry.js";
import { checkOutputName } from "../output/check-paths.js";
import { execute } from "../run/execute.js";
import {
  type EarlierShape,
  earlierShape,
  openEarlierOutput,
  shapeRefused,
} from "./earlier-output.js";
import { type EarlierRow, isNoWorse, worthAsking } from "./earlier-record.js";
import type { EnrichJob, Manifest } from "../types.js";

/**
 * Asks again for the failed and partial rows of an earlier output and fills them in place. Every
 * other row, and every row that comes to nothing better, is copied to the letter.
 *
 * @throws UsageError `not_an_output`, `retry_needs_file`, `retry_needs_text`,
 * `retry_cannot_read_shape`, `retry_keeps_format`, `retry_older_schema`; as `enrich`
 */
export async function retryOutput(job: EnrichJob): Promise<Manifest> {
  if (!("path" in job.input)) {
    throw new UsageError("retry_needs_file", "retry reads an earlier output file, not a stream");
  }
  const { path } = job.input;
  refuseWarehouses(path, job.settings.output, job.settings.prefix);
  if (job.settings.to === undefined) await checkOutputName(job.settings.output);
  const detected = detectSinkFormat(withoutFailed(path));
  const format = job.settings.to ?? detected.format ?? "csv";
  if (formats[format].earlier === undefined) throw shapeRefused(`--to ${format}`);
  const target = job.settings.output === "-" ? null : detectSinkFormat(job.settings.output).format;
  if (target !== null && target !== format) {
    throw new UsageError(
      "retry_keeps_format",
      `${path} is ${format}, ${job.settings.output} would be ${target}`,
      { hint: "retry fills rows in place and keeps their format" },
    );
  }
  const options = { path, format, gzip: detected.gzip, prefix: job.settings.prefix };
  const before = await earlierShape(options);
  if (before.schemaVersion < schemaVersion) {
    throw olderSchema(path, job.settings.prefix, before.schemaVersion);
  }
  const settings = { ...job.settings, to: format, shape: before.shape };
  return execute(
    { ...job, settings },
    {
      inputFormat: () => Promise.resolve(before.reading.format),
      options: { retry: true },
      // They are what is to be made whole.
      partialsFromCache: false,
      open: (resume) => openEarlierOutput(options, before, resume),
      start: (lookup) => (row, signal) => {
        const { item, earlier } = row as EarlierRow;
        if (item === null || !worthAsking(row as EarlierRow)) return { item, finding: earlier };
        const asked = lookup(item, { signal, row: row.number });
        return { item, finding: asked.then((now) => (isNoWorse(earlier, now) ? now : earlier)) };
      },
      encoder: (encoder) => copying(encoder, before, settings),
    },
  );
}

/** Rows are copied as they are, and an output must not mix rows with and without a column. */
function olderSchema(path: string, prefix: string, version: number): UsageError {
  const missing = columns.filter(({ since }) => since > version).map(({ name }) => prefix + name);
  return new UsageError(
    "retry_older_schema",
    `${path} has schema version ${version}, without ${missing.join(", ")}; retry writes version ${schemaVersion}`,
    {
      hint: "run enrich on the input again; a --cache DIR that the earlier run filled answers what it knows",
    },
  );
}

/** Retry copies rows to the letter, which only text has; a table keeps both answers instead. */
function refuseWarehouses(path: string, output: string, prefix: string): void {
  const from = findWarehouse(path)?.target.display;
  const to = output === "-" ? undefined : findWarehouse(output)?.target.display;
  if (from !== undefined) {
    throw new UsageError("retry_needs_text", `retry fills in text outputs; ${from} is none`, {
      hint: `take the items whose ${prefix}status is failed or partial out of it into a CSV file, and enrich that to where its rows go; or keep them apart from the start with --rejects`,
    });
  }
  if (to === undefined) return;
  throw new UsageError(
    "retry_keeps_format",
    `retry keeps the format of ${path}; ${to} is no text`,
    {
      hint: "retry into a text file; or enrich what --rejects kept to where its rows go",
    },
  );
}

/** Writes rows that stay as their own text, and the others anew. */
function copying(encoder: Encoder, output: EarlierShape, settings: EnrichJob["settings"]): Encoder {
  // An object's own members are put before ours as they stand; our part is written for no columns.
  const ours = formats.ndjson.write({
    columns: [],
    prefix: settings.prefix,
    shape: output.shape,
    formulaGuard: false,
  });
  return {
    ...encoder,
    header: output.header,
    encode: (rows) =>
      rows
        .map((enriched) => {
          const row = enriched.row as EarlierRow;
          if (enriched.finding === row.earlier) return row.text;
          if (row.json === null) return encoder.encode([enriched]);
          const added = ours.encode([{ ...enriched, row: plainRow(row) }]);
          const members = row.json.slice(1, -1);
          return members === "" ? added : `{${members},${added.slice(1)}`;
        })
        .join(""),
  };
}

function plainRow(row: EarlierRow): EarlierRow {
  return { ...row, json: null, cells: [] };
}
