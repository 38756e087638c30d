import { z } from "zod";
import type { IntelClient } from "../../../client/api/intel-client.js";
import { FatalError, UsageError, ReputeError } from "../../../core/errors.js";
import { option } from "../../../core/options.js";
import { lookupOptions } from "../../../client/lookup/options.js";
import { oneLine } from "../../../core/wording/printable.js";
import { counted, formatCount, shellWord } from "../../../core/wording/quantity.js";
import type { Session } from "../../../client/session/session.js";
import { tagExportOptions } from "../../../jobs/tags/options.js";
import type { ExportReport, ExportTagsOptions, TagProgress } from "../../../jobs/tags/options.js";
import { intelCallGroups, withSession } from "../../sessions.js";
import { cliOptions, unattendedOptions } from "../../options/cli-options.js";
import { type CommandCall, defineCommand, quotaCode, type SettingsOf } from "../../command.js";
import { exitCodes } from "../../../jobs/enrich/ending.js";
import { join } from "node:path";
import type { CliContext } from "../../terminal/cli-context.js";
import { writeManifest } from "../../../io/output/manifest-file.js";
import type { Output } from "../../../io/output/output.js";
import { manifestPath, startOf } from "../../../core/files/output-names.js";
import { otherNames } from "../../../jobs/enrich/counters.js";
import type { Manifest, TagExportRecord } from "../../../core/manifest.js";

const { json } = intelCallGroups.Run;

const groups = {
  Lists: {
    output: option(z.string().min(1).optional(), {
      description: "Folder to write the lists to; created if missing",
      value: "DIR",
      alias: "o",
    }),
    all: option(z.boolean().default(false), {
      description: "Export every tag of the service, and delete lists of tags it no longer has",
    }),
    ...tagExportOptions.shape,
    bogons: lookupOptions.shape.bogons,
    exclude: lookupOptions.shape.exclude,
  },
  ...intelCallGroups,
  Run: { json, quiet: cliOptions.shape.quiet, ...unattendedOptions.shape },
};

type Settings = SettingsOf<typeof groups>;

export const tagsExportCommand = defineCommand({
  name: "tags export",
  isJob: true,
  usage: "NAME... | --all -o DIR [flags]",
  summary: "export the IP lists of tags as files, and what changed",
  description: [
    "Reads the list of each tag from one snapshot, verifies it, and writes it to DIR as <group>--<name>.txt and in any other format of --formats, with files of the addresses added and removed since the previous export. DIR/index.json describes all lists.",
    "A tag that fails keeps its previous list; the others are updated. All files appear at once. An interrupted export changes nothing: repeat the command.",
  ],
  operands: [["NAME", "name of a tag, <group>:<name>"]],
  groups,
  examples: {
    "repute tags export credentials:brute-force -o lists --local":
      "export one list of the embedded service",
    "repute tags export --all -o lists --formats txt,cidr,nft":
      "export every list in three formats",
  },
  exitCodes: { 3: "done, but some tags failed", ...quotaCode },
  run: exportLists,
});

async function exportLists(call: CommandCall<Settings>): Promise<number> {
  const { settings, context, operands, watch } = call;
  const { output: folder, formats, combine, maxChange } = settings;
  const none = { exported: 0, unchanged: 0, failed: 0, kept: 0 };
  const nothing = { folder: folder ?? null, generation: null, combined: null, tags: [], ...none };
  watch?.follow({ record: () => nothing, toStdout: true });
  if (folder === undefined) {
    throw new UsageError("no_output", "tags export needs a folder to write to", {
      hint: "name it with -o DIR",
    });
  }
  const { ExportFolder } = await import("../../../jobs/tags/export-folder.js");
  await ExportFolder.check(folder);
  const names = chooseNames(settings.all, operands, context.signal);
  // An interrupted export starts over when the command is repeated.
  watch?.follow({ resumable: () => true });
  const own = { formats, combine, prune: settings.all, maxChange };
  const what = { names, folder, intents: settings.intent, ...own };
  const report = await withSession("intel", call, (session) =>
    exportTagLists(session, context, what),
  );
  watch?.finish(report);
  if (!settings.json && context.reporter.format === "text") printExported(report, context);
  return report.failed > 0 ? exitCodes.rowsFailed : exitCodes.done;
}

type Names = (client: IntelClient) => readonly string[] | Promise<readonly string[]>;

function chooseNames(all: boolean, operands: readonly string[], signal: AbortSignal): Names {
  if (all !== operands.length > 0)
    return all ? (client) => everyTag(client, signal) : () => operands;
  const message = all ? "names and --all exclude each other" : "tags export needs tags";
  throw new UsageError("which_tags", message, { hint: "name tags, or add --all" });
}

/** @throws FatalError if there are none, since all lists in the folder would be deleted */
async function everyTag(client: IntelClient, signal: AbortSignal): Promise<string[]> {
  const tags = await client.tags({ signal });
  if (tags.length > 0) return tags.map(({ name }) => name);
  throw new FatalError("no_tags", "the service lists no tags", {
    hint: "the folder is unchanged; check the address and the API key, or name the tags",
  });
}

interface TagExport extends Pick<
  ExportTagsOptions,
  "folder" | "runId" | "maxChange" | "formats" | "combine" | "prune"
> {
  /** Names of the tags, possibly read with the client. */
  readonly names: Names;
  readonly intents?: readonly string[] | undefined;
}

/**
 * Exports tag lists with the rate limits and retries of the main job, and reports progress. Prints
 * failed tags to stderr even with `--quiet`.
 */
async function exportTagLists(
  session: Session,
  context: CliContext,
  { names, intents, ...options }: TagExport,
): Promise<ExportReport> {
  const { exportTags } = await import("../../../jobs/tags/export-tags.js");
  const { clock, signal, reporter } = context;
  let status = "running, no progress yet";
  reporter.follow({ line: () => status });
  const onProgress = ({ tag, entries, total }: TagProgress): void => {
    status = `${tag}: ${formatCount(entries)} of ${formatCount(total)} addresses read`;
  };
  const onFault = (tag: string, { code, message, hint }: ReputeError): void => {
    const reason = message.replace(`tag ${tag}: `, "");
    reporter.fault(`could not export tag ${tag}: ${reason}`, hint, { code, tag });
  };
  const client = await session.intel();
  const exported = exportTags({
    ...options,
    client,
    names: await withIntents(intents, await names(client), client, signal),
    withheld: await session.withheld(),
    clock,
    signal,
    onProgress,
    onFault,
    onWarning: (message) => reporter.warning(message),
  });
  return exported.finally(() => reporter.follow(null));
}

/** Drops tags with other intents than the given ones. Keeps the order, and unknown tags. */
async function withIntents(
  intents: readonly string[] | undefined,
  names: readonly string[],
  client: IntelClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (intents === undefined) return names;
  const tags = await client.tags({ signal });
  const others = tags.filter(({ intent }) => !intents.includes(intent ?? "unknown"));
  const dropped = new Set(others.map(({ name }) => name));
  return names.filter((name) => !dropped.has(name));
}

function printExported(report: ExportReport, { reporter }: CliContext): void {
  const lines = report.tags.map(
    ({ name, status, error, total, added, removed }) =>
      `  ${oneLine(
        status === "failed"
          ? `${name}: failed, ${error?.message ?? "no reason"}`
          : `${name}: ${counted(total ?? 0, "address")}, ${formatCount(added ?? 0)} added, ${formatCount(removed ?? 0)} removed${status === "unchanged" ? " (unchanged)" : ""}`,
      )}`,
  );
  const kept = report.kept > 0 ? `, ${report.kept} kept from the previous export` : "";
  const head = `${report.exported + report.unchanged} of ${report.tags.length} lists exported to ${report.folder}${kept}`;
  const { combined } = report;
  if (combined !== null) {
    lines.push(`  ${counted(combined.total, "address")} together in ${combined.files.join(", ")}`);
  }
  reporter.notice([head, ...lines].join("\n"));
}

type SeenTagsCall = Pick<
  CommandCall<{
    readonly output: Output;
    readonly json: boolean;
    readonly stateDir?: string | undefined;
  }>,
  "settings" | "context"
>;

/** Maximum number of tags in a proposed command. */
const mostNamed = 20;

interface SeenTagsExport {
  /** The run's manifest with the result of each tag. Failed tags count like failed rows. */
  readonly manifest: Manifest;
  /** The error that ended the export before any list was written; null if none. */
  readonly fault: { readonly error: unknown } | null;
}

/**
 * Exports the IP list of every tag seen in a run and records the results in its manifest. Needs only
 * that manifest, and is safe to repeat.
 */
export async function exportSeenTags(
  call: SeenTagsCall,
  session: Session,
  manifest: Manifest,
  folder: string,
): Promise<SeenTagsExport> {
  const { settings, context } = call;
  const { [otherNames]: uncounted = 0, ...seen } = manifest.tags;
  const names = Object.keys(seen);
  let records: readonly TagExportRecord[];
  let fault: SeenTagsExport["fault"] = null;
  try {
    const what = { names: () => names, folder, runId: manifest.run_id };
    const report = await exportTagLists(session, context, what);
    records = report.tags.map(({ name: tag, files, ...result }) =>
      Object.assign({ tag, files: files.map((file) => join(folder, file)) }, result),
    );
    if (!settings.json) printExported(report, context);
  } catch (error) {
    fault = { error };
    records = names.map((tag) => failedRecord(tag, error));
    const which = names.length > mostNamed ? ["NAME..."] : names;
    const again = ["tags", "export", ...which, "-o", folder].map(shellWord).join(" ");
    context.reporter.print(
      `repute: the rows are done but their tag lists are not; to export them: repute ${again}`,
    );
  }
  if (uncounted > 0) {
    const text = `${uncounted} rows carry tags beyond the ${names.length} names that a run keeps; the lists of those tags are not exported`;
    context.reporter.print(`repute: ${text}`);
    records = [...records, failedRecord(otherNames, new ReputeError("too_many_tags", text))];
  }
  const isFailed = records.some(({ status }) => status === "failed");
  const recorded: Manifest = {
    ...manifest,
    ...(isFailed && { exit_reason: "rows_failed", exit_code: exitCodes.rowsFailed }),
    tag_exports: records,
  };
  // Rows on stdout have no manifest file.
  if (manifest.output.path !== null) {
    await saveManifest(settings, recorded).catch((error: unknown) => {
      fault ??= { error };
    });
  }
  return { manifest: recorded, fault };
}

async function saveManifest(
  { output, stateDir }: SeenTagsCall["settings"],
  manifest: Manifest,
): Promise<void> {
  const { object, base } = output.named(startOf(manifest));
  if (object === null) return writeManifest(base(stateDir), manifest);
  const { writeObject } = await import("../../../io/s3/objects.js");
  const text = `${JSON.stringify(manifest, null, 2)}\n`;
  await writeObject(manifestPath(object.address), { text, type: "application/json" });
}

function failedRecord(tag: string, error: unknown): TagExportRecord {
  const { message } = error instanceof Error ? error : new Error(String(error));
  const code: string = error instanceof ReputeError ? error.code : "unexpected";
  const nothing = { snapshot: null, total: null, added: null, removed: null, files: [] };
  return { tag, status: "failed", ...nothing, error: { code, message } };
}
