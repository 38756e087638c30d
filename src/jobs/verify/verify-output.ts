import { schemaVersion } from "../../core/columns.js";
import { FatalError, type ReputeError, UsageError } from "../../core/errors.js";
import { hashFile } from "../../core/files/checksum.js";
import { countedVerdicts, findingStatuses, verdicts } from "../../core/finding.js";
import type { Manifest } from "../../core/manifest.js";
import { zeros } from "../../core/row.js";
import { readableFormats } from "../../io/formats/registry.js";
import { unfinishedHint } from "../../io/input/open-input.js";
import { manifestPlace, prefixOfOutput, readManifest } from "../../io/output/manifest-file.js";
import type { Output } from "../../io/output/output.js";
import { outputFault } from "../../core/files/output-fault.js";
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
  const audit = output.isTable
    ? { bytes: null, sha256: null, ...(await countRows(output, asked, manifest)) }
    : await countFile(output, asked, manifest);
  return { audit, differences: differencesOf(manifest, audit, output.isTable ? "table" : "file") };
}

/** Reads a whole file: its bytes, and the rows of a format that can be read back. */
async function countFile(
  output: Output,
  asked: string | undefined,
  manifest: Manifest,
): Promise<CountedOutput> {
  const { path, format } = outputFile(output, manifest);
  const { indicators } = manifest.output;
  const { bytes, sha256 } = await hashFile(path).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  const whole = { bytes, sha256 };
  if (readableFormats.includes(format)) {
    return { ...whole, ...(await countRows(output, asked, manifest)) };
  }
  // Its checksum says that the rows are those of the manifest.
  const none = { rows: null, statuses: null, verdicts: null };
  return { ...whole, indicators, ...(indicators === undefined ? writtenOf(manifest) : none) };
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

function differencesOf(manifest: Manifest, audit: CountedOutput, place: string): readonly string[] {
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
    const hint =
      (await unfinishedHint(output.base(stateDir))) ??
      "every finished run writes a manifest beside its output; name such an output";
    throw new UsageError("manifest_missing", `there is no ${path}`, { hint });
  }
  const { schema_version: version, output: written, statuses, verdicts: found } = manifest;
  if (version !== undefined && version !== schemaVersion) {
    throw new UsageError(
      "schema_version",
      `${path} has schema version ${version}; this version of repute reads ${schemaVersion}`,
      { hint: "use the version of repute that wrote it, or run enrich on the input again" },
    );
  }
  if (written === undefined || statuses === undefined || found === undefined) {
    throw new FatalError("manifest_unreadable", `${path} is not the manifest of a run`);
  }
  return manifest as Manifest;
}

/** What an output holds of a run. Rows are not counted where it does not keep one record for each. */
interface CountedOutput {
  readonly rows: number | null;
  readonly statuses: Manifest["statuses"] | null;
  readonly verdicts: Manifest["verdicts"] | null;
  /** Size of the file; null for a table. */
  readonly bytes: number | null;
  /** SHA-256 of the file, hex; null for a table. */
  readonly sha256: string | null;
  /** Of a STIX bundle, which omits rows that accuse nothing. */
  readonly indicators?: number | undefined;
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
