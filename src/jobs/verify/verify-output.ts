import { schemaVersion } from "../../core/columns.js";
import { FatalError, type ReputeError, UsageError } from "../../core/errors.js";
import { hashFile } from "../../core/files/checksum.js";
import { countedVerdicts, findingStatuses, verdicts } from "../../core/finding.js";
import type { Manifest } from "../../core/manifest.js";
import { zeros } from "../../core/row.js";
import { readableFormats } from "../../io/formats/registry.js";
import { manifestPlace, prefixOfOutput, readManifest } from "../../io/output/manifest-file.js";
import type { Output } from "../../io/output/output.js";
import { outputFault } from "../../core/files/system-fault.js";
import { localOutput, openRecords, outputFile } from "../../io/output/read.js";

/**
 * Verifies an output against the manifest beside it: bytes, SHA-256, rows, and rows by status and
 * verdict. In a database table, counts the rows of the manifest's run, of which a merged table may
 * hold fewer.
 *
 * @param asked prefix of the added columns. Default the one that the manifest notes
 */
export async function verifyOutput(given: Output, asked: string | undefined, stateDir?: string) {
  await using local = await localOutput(given);
  const { output } = local;
  const manifest = await manifestOfRun(output, stateDir);
  const audit = {
    ...(await contentOf(output, manifest)),
    ...(await countsOf(output, asked, manifest)),
    /** Of a STIX bundle, which omits rows that accuse nothing. */
    indicators: manifest.output.indicators,
  };
  return { audit, differences: differencesOf(manifest, audit, output.isTable ? "table" : "file") };
}

/** Size and SHA-256 of its file; null for a table. */
async function contentOf(output: Output, manifest: Manifest) {
  if (output.isTable) return { bytes: null, sha256: null };
  const { path } = outputFile(output, manifest);
  return hashFile(path).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

/** What it holds of the run. Null where it does not keep a record for each row. */
async function countsOf(output: Output, asked: string | undefined, manifest: Manifest) {
  const isRead = output.isTable || readableFormats.includes(outputFile(output, manifest).format);
  if (isRead) return countRows(output, asked, manifest);
  // Its checksum says that the rows are those of the manifest.
  if (manifest.output.indicators === undefined) return writtenOf(manifest);
  return { rows: null, statuses: null, verdicts: null };
}

async function countRows(output: Output, asked: string | undefined, manifest: Manifest) {
  const statuses = zeros(findingStatuses);
  const verdicts = zeros(countedVerdicts);
  let rows = 0;
  const add = (counts: Record<string, number>, name: string, fault: string): void => {
    if (!Object.hasOwn(counts, name)) {
      const where = output.isTable
        ? "the table has rows with"
        : `${output.name} is damaged: row ${rows} has`;
      throw new FatalError("output_corrupt", `${where} ${fault}`);
    }
    counts[name]! += 1;
  };
  const prefix = prefixOfOutput(asked, manifest);
  const wanted = { runId: manifest.run_id, prefix, only: ["status", "verdict"] };
  const found = await openRecords(output, manifest, wanted).catch((error: unknown) => {
    if ((error as Partial<ReputeError>).code !== "no_such_run") throw error;
    return { optional: undefined, records: [] };
  });
  const hasVerdicts = found.optional?.only?.includes("verdict") ?? true;
  for await (const list of found.records) {
    for (const row of list) {
      rows += 1;
      add(statuses, row.text("status"), "no status");
      if (hasVerdicts) add(verdicts, row.text("verdict") || "unknown", "an unknown verdict");
    }
  }
  return { rows, statuses, verdicts: hasVerdicts ? verdicts : null };
}

type Audit = Awaited<ReturnType<typeof contentOf>> & Awaited<ReturnType<typeof countsOf>>;

function differencesOf(manifest: Manifest, audit: Audit, place: string): readonly string[] {
  const { output } = manifest;
  const written = writtenOf(manifest);
  // Rows of the same key, or with an older answer than another run's, are not in a merged table.
  const isMerged = output.without_key !== undefined;
  const { rows, statuses, verdicts: found } = audit;
  const compared: [what: string, recorded: unknown, found: unknown][] = [
    ["bytes", output.bytes, audit.bytes],
    ["sha256", output.sha256, audit.sha256],
  ];
  if (statuses !== null) {
    compared.push(["rows", written.rows, rows]);
    for (const name of findingStatuses) {
      compared.push([`rows ${name}`, written.statuses[name], statuses[name]]);
    }
  }
  if (found !== null) {
    for (const name of verdicts) {
      compared.push([`verdict ${name}`, written.verdicts[name], found[name]]);
    }
  }
  return compared
    .filter(([, recorded, there]) => recorded !== there)
    .filter(([, recorded, there]) => !isMerged || Number(there) > Number(recorded))
    .map(
      ([what, recorded, there]) =>
        `${what}: the manifest says ${String(recorded)}, the ${place} has ${String(there)}`,
    );
}

async function manifestOfRun(output: Output, stateDir: string | undefined): Promise<Manifest> {
  const path = manifestPlace(output, stateDir);
  const manifest = await readManifest(path);
  if (manifest === null) {
    const hint = "every finished run writes a manifest beside its output; name such an output";
    throw new UsageError("manifest_missing", `there is no ${path}`, { hint });
  }
  const { schema_version: version, output: written, statuses, verdicts: found } = manifest;
  if (version !== undefined && version !== schemaVersion) {
    const message = `${path} has schema version ${version}; this version of repute reads ${schemaVersion}`;
    const hint = "use the version of repute that wrote it, or run enrich on the input again";
    throw new UsageError("schema_version", message, { hint });
  }
  if (written === undefined || statuses === undefined || found === undefined) {
    throw new FatalError("manifest_unreadable", `${path} is not the manifest of a run`);
  }
  return manifest as Manifest;
}

/** The counts of the written rows: without those that are left out. */
function writtenOf({ output, statuses, verdicts, left_out: leftOut }: Manifest) {
  const less = <K extends string>(all: Readonly<Record<K, number>>, by?: Record<K, number>) =>
    Object.fromEntries(
      Object.entries<number>(all).map(([name, n]) => [name, n - (by?.[name as K] ?? 0)]),
    ) as Record<K, number>;
  return {
    rows: output.rows,
    statuses: less(statuses, leftOut?.statuses),
    verdicts: less(verdicts, leftOut?.verdicts),
  };
}
