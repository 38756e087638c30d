import { z } from "zod";
import type { IntelClient } from "../../../client/api/intel-client.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import { option } from "../../../core/options.js";
import { lookupOptions } from "../../../client/lookup/options.js";
import { oneLine } from "../../../core/wording/printable.js";
import { counted, formatCount } from "../../../core/wording/quantity.js";
import type { Session } from "../../../client/session/session.js";
import type { ExportReport } from "../../../jobs/tags/export-tags.js";
import { type ExportTagsOptions, tagExportOptions } from "../../../jobs/tags/options.js";
import { intelCallGroups, withSession } from "../../sessions.js";
import { cliOptions, unattendedOptions } from "../../options/cli-options.js";
import { type CommandCall, defineCommand, quotaCode, type SettingsOf } from "../../command.js";
import { exitCodes } from "../../../jobs/enrich/ending.js";
import type { CliContext } from "../../terminal/cli-context.js";

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

type ExportCall = CommandCall<SettingsOf<typeof groups>>;

export const tagsExportCommand = defineCommand({
  name: "tags export",
  isJob: true,
  usage: "NAME... | --all -o DIR [flags]",
  summary: "write the IP lists of tags, and their changes, to files",
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
  run: async (call) => {
    const { settings, context, operands, watch } = call;
    const { output: folder, all, formats, combine, maxChange } = settings;
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
    if (all === operands.length > 0) {
      const message = all ? "names and --all exclude each other" : "tags export needs tags";
      throw new UsageError("which_tags", message, { hint: "name tags, or add --all" });
    }
    // An interrupted export starts over when the command is repeated.
    watch?.follow({ resumable: () => true });
    const own = { folder, formats, combine, prune: all, maxChange };
    const isShown = !settings.json && context.reporter.format === "text";
    const report = await withSession("intel", call, async (session) => {
      const names = await chosenTags(call, await session.intel());
      return exportTagLists(session, context, { ...own, names }, isShown);
    });
    watch?.finish(report);
    return report.failed > 0 ? exitCodes.rowsFailed : exitCodes.done;
  },
});

/**
 * The named tags, or with `--all` every tag. `--intent` drops tags of other intents; names that the
 * service does not list stay.
 *
 * @throws FatalError `no_tags` if `--all` finds none: an export would delete every list in the folder
 */
async function chosenTags({ settings, operands, context }: ExportCall, client: IntelClient) {
  const { all } = settings;
  const intents: readonly string[] | undefined = settings.intent;
  if (!all && intents === undefined) return operands;
  const tags = await client.tags({ signal: context.signal });
  if (all && tags.length === 0) {
    throw new FatalError("no_tags", "the service lists no tags", {
      hint: "the folder is unchanged; check the address and the API key, or name the tags",
    });
  }
  const others = tags.filter(({ intent }) => intents?.includes(intent ?? "unknown") === false);
  const dropped = new Set(others.map(({ name }) => name));
  const names = all ? tags.map(({ name }) => name) : operands;
  return names.filter((name) => !dropped.has(name));
}

/**
 * Exports tag lists with the rate limits and retries of the main job, and reports progress and, if
 * `isShown`, the result. Prints failed tags to stderr even with `--quiet`.
 */
export async function exportTagLists(
  session: Session,
  { clock, signal, reporter }: CliContext,
  what: Omit<ExportTagsOptions, "client" | "withheld" | "clock">,
  isShown: boolean,
): Promise<ExportReport> {
  const { exportTags } = await import("../../../jobs/tags/export-tags.js");
  let status = "running, no progress yet";
  reporter.follow(() => status);
  const exporting = exportTags({
    ...what,
    client: await session.intel(),
    withheld: await session.withheld(),
    clock,
    signal,
    onProgress({ tag, entries, total }) {
      status = `${tag}: ${formatCount(entries)} of ${formatCount(total)} addresses read`;
    },
    onFault(tag, { code, message, hint }) {
      const named = [`IP list of tag ${tag}: `, `tag ${tag}: `].find((at) =>
        message.startsWith(at),
      );
      const reason = message.slice(named?.length ?? 0);
      reporter.fault(`could not export tag ${tag}: ${reason}`, hint, { code, tag });
    },
    onWarning: (message) => reporter.warning(message),
  });
  const report = await exporting.finally(() => reporter.follow(null));
  if (isShown) reporter.notice(reportLines(report).join("\n"));
  return report;
}

function reportLines(report: ExportReport): readonly string[] {
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
  return [head, ...lines];
}
