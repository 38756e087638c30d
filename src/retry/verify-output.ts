import { schemaVersion } from "../core/columns.js";
import { FatalError, UsageError } from "../core/errors.js";
import { realPath } from "../core/files/real-path.js";
import { RowCounter } from "../core/row.js";
import { auditPart } from "../outputs/data-set/part-files.js";
import { isObjectAddress } from "../s3/address.js";
import { findWarehouse, type Warehouse } from "../outputs/registry.js";
import { recordBase } from "../run/destination/check-paths.js";
import { formats } from "../formats/registry.js";
import { sinkFormats } from "../formats/types.js";
import { unfinishedHint } from "../inputs/verify-input.js";
import { prefixOfOutput, readManifest } from "../run/finish/manifest.js";
import { type Audit, type AuditOptions, auditOutput } from "../outputs/audit-output.js";
import { wrongCounts } from "../run/finish/wrong-counts.js";
import { asOutputName, dataSetParts } from "./data-set-rows.js";
import { type EarlierOutputOptions, earlierShape } from "./earlier-output.js";
import type { Manifest } from "../run/types.js";
import { manifestPath, withoutFailed } from "../core/files/output-names.js";

/** Result of verifying an output: what the file holds, and every difference from the manifest. */
export interface Verification {
  readonly audit: Audit;
  readonly differences: readonly string[];
}

/**
 * Verifies an output against the manifest beside it: bytes, SHA-256, rows, and rows by status and
 * verdict. In a database table, counts the rows of
 * the manifest's run; in a STIX bundle, which does not hold its rows one by one, counts the
 * indicators.
 *
 * @param asked prefix of the added columns. Default the one that the manifest notes
 * @throws UsageError `manifest_missing`, `manifest_unreadable`, `not_an_output`, `schema_version`
 * @throws FatalError `output_corrupt` if the output holds a malformed row
 */
export async function verifyOutput(
  path: string,
  asked: string | undefined,
  stateDir?: string,
): Promise<Verification> {
  if (isObjectAddress(path)) {
    const copy = await (await import("./local-copy.js")).copyOutput(path);
    try {
      return await verifyOutput(copy.path, asked);
    } finally {
      await copy.remove();
    }
  }
  const warehouse = findWarehouse(asOutputName(path));
  if (warehouse?.target.kind === "data set") return verifyDataSet(warehouse.target.base, asked);
  if (warehouse !== null) return verifyWarehouse(warehouse, asked, stateDir);
  const file = realPath(path);
  const manifest = await manifestOfOutput(file);
  const format = sinkFormats.find((known) => known === manifest.output.format);
  if (format === undefined) {
    throw new UsageError(
      "not_an_output",
      `${path} is ${manifest.output.format}, which verify cannot check`,
    );
  }
  const gzip = withoutFailed(file).toLowerCase().endsWith(".gz");
  const prefix = prefixOfOutput(asked, manifest);
  const { shape, inputColumns } = await layoutOf({ path: file, format, gzip, prefix });
  const audit = await auditOutput(file, { format, gzip, inputColumns, prefix, shape });
  return { audit, differences: differencesOf(manifest, audit) };
}

/** Layout of an output's rows by its first record. Formats that retry cannot read have just one. */
async function layoutOf(
  options: EarlierOutputOptions,
): Promise<Pick<AuditOptions, "shape" | "inputColumns">> {
  if (formats[options.format].earlier === undefined) return { shape: "nested", inputColumns: 0 };
  const { shape, inputColumns } = await earlierShape(options);
  return { shape, inputColumns: inputColumns.length };
}

async function verifyWarehouse(
  warehouse: Warehouse,
  asked: string | undefined,
  stateDir: string | undefined,
): Promise<Verification> {
  const { kind, display } = warehouse.target;
  const base = recordBase(warehouse.target, stateDir);
  const manifest = await manifestOfOutput(base);
  const audit = await warehouse.recount({
    runId: manifest.run_id,
    prefix: prefixOfOutput(asked, manifest),
  });
  if (audit === null) {
    throw new UsageError("not_an_output", `${display} is ${kind}, which verify cannot check`);
  }
  return {
    audit,
    differences: differencesOf(manifest, audit, kind === "parquet" ? "file" : "table"),
  };
}

/** Verifies each part of a data set, and the counts of all of them. */
async function verifyDataSet(folder: string, asked: string | undefined): Promise<Verification> {
  const manifest = await manifestOfOutput(folder);
  const prefix = prefixOfOutput(asked, manifest);
  const { parts, format } = dataSetParts(folder, manifest);
  const counter = new RowCounter();
  const differences: string[] = [];
  let bytes = 0;
  for (const { path, gzip, ...part } of parts) {
    const { shape, inputColumns } =
      format === "parquet"
        ? { shape: "flat" as const, inputColumns: 0 }
        : await layoutOf({ path, format, gzip, prefix });
    const found = await auditPart(path, { format, gzip, prefix, shape, inputColumns });
    bytes += found.bytes ?? 0;
    for (const what of ["bytes", "sha256", "rows"] as const) {
      if (found[what] === part[what]) continue;
      differences.push(
        `${part.name}: ${what}: the manifest says ${part[what]}, the file has ${found[what]}`,
      );
    }
    counter.add(found);
  }
  const audit = { ...counter.found(), bytes, sha256: null };
  return { audit, differences: [...differences, ...differencesOf(manifest, audit, "data set")] };
}

function differencesOf(manifest: Manifest, audit: Audit, place = "file"): readonly string[] {
  const { output, statuses, verdicts } = manifest;
  const { rows, indicators } = output;
  return [
    { what: "bytes", recorded: output.bytes, found: audit.bytes },
    { what: "sha256", recorded: output.sha256, found: audit.sha256 },
    ...wrongCounts({ rows, indicators, statuses, verdicts }, audit),
  ]
    .filter(({ recorded, found }) => recorded !== found)
    .map(
      ({ what, recorded, found }) =>
        `${what}: the manifest says ${recorded}, the ${place} has ${found}`,
    );
}

async function manifestOfOutput(base: string): Promise<Manifest> {
  const hint =
    unfinishedHint(base.replace(/\/$/, "")) ??
    "every finished run writes a manifest beside its output; name such an output";
  const manifest = await readManifest(base, hint);
  const { schema_version: version, output, statuses, verdicts } = manifest;
  if (version !== undefined && version !== schemaVersion) {
    throw new UsageError(
      "schema_version",
      `${manifestPath(base)} has schema version ${version}; this version of repute reads ${schemaVersion}`,
      { hint: "use the version of repute that wrote it, or run enrich on the input again" },
    );
  }
  if (output === undefined || statuses === undefined || verdicts === undefined) {
    throw new FatalError(
      "manifest_unreadable",
      `${manifestPath(base)} is not the manifest of a run`,
    );
  }
  return manifest as Manifest;
}
