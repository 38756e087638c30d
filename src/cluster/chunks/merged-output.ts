import { FatalError } from "../../core/errors.js";
import { formats } from "../../formats/registry.js";
import type { EncoderOptions, SinkFormat } from "../../formats/types.js";
import { partPath } from "../../outputs/file-destination.js";
import type { Destination } from "../../outputs/types.js";
import type { Audit } from "../../outputs/audit-output.js";
import { outputFault } from "../../outputs/output-fault.js";
import { wrongCounts } from "../../run/finish/wrong-counts.js";
import { hashFile } from "./chunk-result.js";
import { type FileJoin, TextJoin } from "./join-text.js";
import type { SummedChunks } from "./merge-manifest.js";
import type { WorkPlan } from "./work-plan.js";
import type { OutputTarget } from "../../run/destination/output-target.js";

/** Joins the outputs of chunks in the format of the target. */
export async function outputJoin(
  plan: WorkPlan,
  target: OutputTarget,
  destination: Destination,
): Promise<FileJoin> {
  if (target.warehouse !== null) {
    const { ParquetJoin } = await import("./join-parquet.js");
    return new ParquetJoin(destination, plan);
  }
  const header = formats[target.format].write(encoderOptions(plan, target.format)).header;
  return new TextJoin({ destination, header, gzip: target.gzip });
}

/** Start of every file of rejected rows. */
export function rejectsHeader({ columns, reading, settings: { formulaGuard } }: WorkPlan): string {
  return formats[reading.format].rejects({ columns, reading, formulaGuard }).header;
}

function encoderOptions({ columns, settings }: WorkPlan, format: SinkFormat): EncoderOptions {
  const {
    prefix,
    shape = format === "ndjson" ? "nested" : "flat",
    formulaGuard,
    esIndex,
  } = settings;
  return { columns, prefix, shape, formulaGuard, esIndex };
}

/**
 * Reads the output back. Text has to be what was written: the rows of each chunk were counted by its
 * run, and its bytes compared with that run's checksum. Rows of Parquet are counted.
 *
 * @throws FatalError `rows_lost`
 */
export async function auditMergedPart(
  plan: WorkPlan,
  { warehouse, name }: OutputTarget,
  file: string,
  written: Destination,
): Promise<Audit> {
  const path = partPath(file);
  if (warehouse !== null) {
    const { readBack } = await import("../../outputs/parquet/read-back.js");
    return readBack(path, { prefix: plan.settings.prefix });
  }
  const found = await hashFile(path).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  const { bytes, crc } = written.checksum() ?? found;
  if (bytes === found.bytes && crc === found.crc) return { ...found, ...uncounted };
  throw new FatalError("rows_lost", `${name} does not hold what was written to it`, {
    hint: "check the disk, then merge again: the chunks are intact",
  });
}

const uncounted = { rows: null, statuses: null, verdicts: null } as const;

/** Rows planned = rows of all chunks = rows in the output, by status and verdict. */
export function checkCounts(
  summed: SummedChunks,
  audit: Audit | null,
  { name }: OutputTarget,
): void {
  const { rows } = summed.input;
  const { statuses, verdicts } = summed;
  const faults: string[] = [];
  const counted = Object.values(statuses).reduce((sum, n) => sum + n, 0);
  if (counted !== rows) faults.push(`${rows} rows planned, ${counted} with a status`);
  const wrong = audit === null ? [] : wrongCounts({ rows, statuses, verdicts }, audit);
  for (const { phrase, recorded, found } of wrong) {
    faults.push(`${recorded} ${phrase}, ${found} in the output`);
  }
  if (faults.length === 0) return;
  throw new FatalError("rows_lost", `row counts of ${name} do not match: ${faults.join("; ")}`, {
    hint: "the chunks are intact; please report this as a bug",
  });
}
