import { realpath } from "node:fs/promises";
import { FatalError, UsageError } from "../core/errors.js";
import { findingStatuses } from "../core/finding.js";
import { readJsonFile } from "../core/json-file.js";
import { findWarehouse } from "../sinks/warehouse/registry.js";
import type { Warehouse } from "../sinks/warehouse/registry.js";
import type { WarehouseAudit } from "../sinks/warehouse/types.js";
import { manifestPath } from "./manifest.js";
import { auditOutput } from "./output-audit.js";
import { openEarlierOutput } from "./retry/earlier-output.js";
import type { Manifest } from "./types.js";

/** What a check came to: what is in the file, and each way in which the manifest says otherwise. */
export interface Verification {
  readonly audit: WarehouseAudit;
  readonly differences: readonly string[];
}

/**
 * Holds an output against the manifest beside it: bytes, SHA-256, rows, rows by status. Of a
 * database's table the rows of the manifest's run are counted.
 *
 * @throws UsageError `manifest_missing`, `manifest_unreadable`, `not_an_output`
 * @throws FatalError `output_corrupt` when it holds what is no row
 */
export async function verifyOutput(path: string, prefix: string): Promise<Verification> {
  const warehouse = findWarehouse(path);
  if (warehouse !== null) return verifyWarehouse(warehouse, prefix);
  const file = await realpath(path).catch(() => path);
  const manifest = await readManifest(manifestPath(file));
  const { format } = manifest.output;
  if (format !== "csv" && format !== "tsv" && format !== "ndjson") {
    throw new UsageError("not_an_output", `${path} is ${format}, which cannot be checked`);
  }
  const gzip = file.toLowerCase().endsWith(".gz");
  const opened = await openEarlierOutput({ path: file, format, gzip, prefix }, null);
  await opened.close();
  const member = prefix.replace(/_$/, "");
  const audit = await auditOutput(file, {
    format,
    gzip,
    inputColumns: opened.columns.length,
    statusMember: (record) => {
      const object = record as Record<string, unknown>;
      if (opened.shape === "flat") return object[`${prefix}status`];
      return (object[member] as { status?: unknown } | undefined)?.status;
    },
  });
  return { audit, differences: differencesOf(manifest, audit) };
}

async function verifyWarehouse(warehouse: Warehouse, prefix: string): Promise<Verification> {
  const { base, kind, display } = warehouse.target;
  const manifest = await readManifest(manifestPath(base));
  const audit = await warehouse.recount({ runId: manifest.run_id, prefix });
  if (audit === null) {
    throw new UsageError("not_an_output", `${display} is ${kind}, which cannot be checked`);
  }
  return {
    audit,
    differences: differencesOf(manifest, audit, kind === "parquet" ? "file" : "table"),
  };
}

function differencesOf(
  { output, statuses }: Manifest,
  audit: WarehouseAudit,
  place = "file",
): readonly string[] {
  const facts: [what: string, said: unknown, found: unknown][] = [
    ["bytes", output.bytes, audit.bytes],
    ["sha256", output.sha256, audit.sha256],
    ["rows", output.rows, audit.rows],
    ...findingStatuses.map((status): [string, unknown, unknown] => [
      `rows ${status}`,
      statuses[status],
      audit.statuses[status],
    ]),
  ];
  return facts
    .filter(([, said, found]) => said !== found)
    .map(
      ([what, said, found]) =>
        `${what}: the manifest says ${String(said)}, the ${place} has ${String(found)}`,
    );
}

async function readManifest(path: string): Promise<Manifest> {
  let found: unknown;
  try {
    found = await readJsonFile(path);
  } catch (error) {
    throw new UsageError("manifest_unreadable", `cannot read ${path}`, { cause: error });
  }
  if (found === null) {
    throw new UsageError("manifest_missing", `there is no ${path}`, {
      hint: "a manifest stands beside every output of a run that was done",
    });
  }
  const manifest = found as Partial<Manifest>;
  if (manifest.output === undefined || manifest.statuses === undefined) {
    throw new FatalError("manifest_unreadable", `${path} is no manifest of a run`);
  }
  return manifest as Manifest;
}
