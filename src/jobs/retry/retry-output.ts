import { madeUpOf, type Manifest } from "../../core/manifest.js";
import { UsageError } from "../../core/errors.js";
import {
  checkRunWords,
  failedSuffix,
  hasRunWords,
  namedAfter,
  withoutFailed,
} from "../../core/files/output-names.js";
import { localOutput, openForm, outputFile } from "../../io/output/read.js";
import { type Column, type ColumnValue, resultFrom } from "../../core/column.js";
import { columns, mustHaveColumns, retriedColumns } from "../../core/columns.js";
import { columnTypes } from "../../io/formats/column-types.js";
import { readableFormats } from "../../io/formats/registry.js";
import type { OutputRecord } from "../../io/formats/types.js";
import type { Output } from "../../io/output/output.js";
import type { OutputSettings } from "../enrich/options.js";
import { parseOutput } from "../../io/output/registry.js";
import { checkOutputName } from "../enrich/destination/choose-output.js";
import { execute } from "../enrich/execute.js";
import type { EnrichJob, Job, RowSource, StartRow } from "../enrich/types.js";
import {
  manifestPlace,
  prefixOfOutput,
  readManifest,
  storedManifest,
} from "../../io/output/manifest-file.js";
import { endpoints } from "../../core/endpoints/endpoints.js";
import {
  type Finding,
  type FindingStatus,
  type JsonObject,
  type LookupAnswer,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
  unasked,
  verdicts,
} from "../../core/finding.js";
import { verdictOf } from "../../core/verdict.js";
import { parseObject } from "../../core/json-members.js";
import { recogniseItem } from "../../core/item/recognise.js";
import { combineFindings } from "../../client/lookup/combine.js";
import type { OutputRow } from "../../io/output/output-row.js";
import type { Lookup } from "../../client/lookup/types.js";

/**
 * The names of what a retry writes: those of its flags, with the values of the run that it completes for
 * `{date}` and `{run_id}`.
 *
 * @param path the earlier output
 * @throws UsageError `retry_needs_file`, `run_word`, `manifest_missing` without a manifest that has these
 *   values
 */
export async function namesOfRetry(
  path: string,
  { output = path, report }: { readonly output?: string | undefined; report?: string | undefined },
) {
  const refused = (what: string, hint: string): UsageError =>
    new UsageError("retry_needs_file", `retry reads an earlier output file, not ${what}`, { hint });
  if (path === "-") throw refused("stdin", "save the output to a file, and name that file");
  const retried = parseOutput(path);
  if (retried.isTable) {
    throw refused(
      retried.name,
      "repeat the run with --mode merge, or enrich a query for the failed rows: ?query=SELECT … WHERE rep_status = 'failed'",
    );
  }
  const named = async (flag: string, name: string): Promise<string> => {
    const { parts } = parseOutput(name);
    checkRunWords(flag, parts);
    if (!hasRunWords(parts.file)) return name;
    const { run_id: runId, started_at: startedAt } =
      (await storedManifest(manifestPlace(retried))) ?? {};
    if (runId !== undefined && startedAt !== undefined)
      return namedAfter(name, { runId, startedAt });
    const message = `${retried.name} has no manifest with the values of {date} and {run_id}`;
    const hint = `write the name without them: ${flag} FILE`;
    throw new UsageError("manifest_missing", message, { hint });
  };
  return { output: await named("-o", output), report: report && (await named("--report", report)) };
}

/**
 * Looks up the failed and partial rows of an earlier output again. The result is a new output, or
 * replaces the earlier one; it keeps the run and its numbers of rows. Every other row, and every row
 * that does not improve, keeps all it has.
 *
 * @param asked prefix of the added columns. @default the one that the manifest notes
 */
export async function retryOutput(job: EnrichJob, asked?: string): Promise<Manifest> {
  if (!("path" in job.input)) {
    throw new UsageError("retry_needs_file", "retry reads an earlier output file, not a stream");
  }
  const given = parseOutput(job.input.path);
  await using local = await localOutput(given);
  const { output, to } = job.settings.output;
  const path = given.given;
  // A file is an output without it.
  const manifest = await readManifest(manifestPlace(local.output)).catch(() => null);
  const prefix = prefixOfOutput(asked, manifest);
  const file = outputFile(local.output, manifest, to);
  const inPlace = placeOf(output) === placeOf(given);
  if (inPlace && path.endsWith(failedSuffix)) {
    // The next run into its output removes it.
    const message = `${path} holds a run with too many failures, which is not retried in place`;
    const hint = `name the output that takes them: -o ${withoutFailed(path)}`;
    throw new UsageError("unknown_output", message, { hint });
  }
  if (to === undefined && !inPlace) await checkOutputName(output);
  for (const format of [file.format, to]) mustBeRead(format);
  const form = await openForm(file, prefix);
  checkFormat(path, file.format, job.settings.output);
  mustHaveColumns(path, retriedColumns, form.optional);
  const own: Partial<OutputSettings> = { ...form.settings, prefix, to: file.format };
  // The limit protects rows with answers; a retry in place keeps them anyway.
  const limits = inPlace ? { maxFailed: { percent: 100 } } : {};
  const settings = {
    ...job.settings,
    output: { ...job.settings.output, ...own },
    run: { ...job.settings.run, ...limits },
  };
  const runId = form.runId ?? manifest?.run_id;
  const rows: RowSource = {
    inputFormat: () => Promise.resolve(form.reading.format),
    options: { retry: true, run: runId ?? null },
    open: form.open,
  };
  const refill: Job["refill"] = {
    start: retryStart,
    madeUp: madeUpOf(manifest ?? {}),
    optional: form.optional,
    runId,
    encoder: form.encoder,
    inPlace,
    replacedVersion: inPlace ? local.version : undefined,
  };
  // Of an object, the version that was read.
  const { version } = local;
  const input =
    version === undefined
      ? job.input
      : { path, copyOf: { name: path, version: () => Promise.resolve(version) } };
  return await execute({ ...job, input, settings, rows, refill });
}

function placeOf({ object, base }: Output): string {
  return object?.address ?? base();
}

function mustBeRead(format = "csv"): void {
  if (readableFormats.includes(format)) return;
  const message = `--to ${format} has the shape of a security platform, which retry neither reads nor writes`;
  throw new UsageError("retry_cannot_read_shape", message, {
    hint: "run enrich on the input again; with the same --cache DIR both times, it requests only what is missing",
  });
}

function checkFormat(path: string, format: string, { output, to }: OutputSettings): void {
  const { format: named } = output;
  const isNamed = format === "parquet" ? named === format : (named ?? format) === format;
  if (isNamed && (to ?? format) === format) return;
  throw new UsageError("retry_keeps_format", `${path} is ${format}, and so is its retry`, {
    hint: "leave out -o and --to to replace it, or name a file of the same format",
  });
}

/** Looks up the failed and partial rows of an earlier output; a worse answer changes nothing. */
function retryStart(lookup: Lookup): StartRow {
  return (row, signal) => {
    const known = row as OutputRow;
    const { item, before } = known;
    const isLacking = before.status === "failed" || before.status === "partial";
    if (item === null || !isLacking) return { item, finding: before };
    // Another program may have written an item that must not be sent.
    const { item: sendable, reason } = recogniseItem(item.value, item.kind);
    if (sendable === null) return { item: null, finding: unasked("unsupported", reason) };
    const asked = lookup(sendable, { signal, row: row.number });
    const finding = asked
      .then((now) => withKept(known, now))
      .then((now) => (isNoWorse(before, now) ? now : before));
    return { item: sendable, finding };
  };
}

/** Adds the answers of a row whose lookups were not retried. */
function withKept(row: OutputRow, now: Finding): Finding {
  const { before } = row;
  // A lookup that failed again was retried.
  if (now.status !== "complete" && now.status !== "partial") return now;
  let whole = now;
  for (const endpoint of lookupEndpoints) {
    if (before.answers[endpoint] === undefined || now.answers[endpoint] !== undefined) continue;
    const missing = missingIn(before, endpoint);
    const kept: Finding = {
      ...unasked(missing.length > 0 ? "partial" : "complete", null),
      answers: { [endpoint]: keptAnswer(row, endpoint) },
      missing,
      source: now.source,
      httpStatus: missing.length > 0 ? 503 : 200,
    };
    const isFirst =
      lookupEndpoints.find((name) => name === endpoint || whole.answers[name]) === endpoint;
    whole = isFirst ? combineFindings(kept, whole) : combineFindings(whole, kept, endpoint);
  }
  return whole;
}

/** The result as received, where the output has it, or what its columns say. */
function keptAnswer({ record, before }: OutputRow, endpoint: LookupEndpoint): LookupAnswer {
  const text = record.text(memberOf(endpoint));
  const received = parseObject(text);
  if (received !== null) return { result: received, text };
  return { result: resultInRecord(record, endpoint, missingIn(before, endpoint)) };
}

/**
 * The result of a lookup as far as the columns of a row tell it.
 *
 * @param missing members that it lacks
 */
export function resultInRecord(
  record: OutputRecord,
  endpoint: LookupEndpoint,
  missing: readonly string[],
): JsonObject {
  const valueOf = ({ name, type }: Column): ColumnValue =>
    type === "text[]" ? record.list(name) : columnTypes[type].fromText(record.text(name));
  return resultFrom(columns, endpoint, valueOf, missing);
}

/** Members that an answer of the row lacks: only some endpoints have partial answers. */
function missingIn({ missing }: Finding, endpoint: LookupEndpoint): readonly string[] {
  return endpoints[endpoint].partial === null ? [] : missing;
}

/** True if the new finding knows at least as much as the one before. */
export function isNoWorse(before: Finding, now: Finding): boolean {
  if (rank[now.status] < rank[before.status]) return false;
  const isWhole = now.status !== "failed" && now.status !== "partial";
  if (isWhole) return true;
  if (verdictOf(now) === null && verdictOf(before) !== null) return false;
  // A failed row can still hold the answer of one of its two lookups.
  const answered = lookupEndpoints.filter((endpoint) => before.answers[endpoint] !== undefined);
  if (answered.some((endpoint) => now.answers[endpoint] === undefined)) return false;
  const hasPartial = answered.some((endpoint) => endpoints[endpoint].partial !== null);
  if (hasPartial && now.missing.length > before.missing.length) return false;
  return now.status === "partial" || severity(now) >= severity(before);
}

function severity(finding: Finding): number {
  const verdict = verdictOf(finding);
  return verdict === null ? 0 : verdicts.length - verdicts.indexOf(verdict);
}

const rank: Readonly<Record<FindingStatus, number>> = {
  complete: 3,
  partial: 2,
  invalid: 1,
  unsupported: 0,
  failed: 0,
};
