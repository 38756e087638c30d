import { z } from "zod";
import type { IntelClient } from "../../../api/intel-client.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import { option } from "../../../core/options.js";
import { lookupOptions } from "../../../lookup/options.js";
import { runOptions } from "../../../run/options.js";
import { tagExportOptions } from "../../../tags/options.js";
import { intelCallGroups } from "../../services/call-options.js";
import { cliOptions } from "../../options/option-spec.js";
import { type CommandCall, defineCommand, type SettingsOf } from "../../command.js";
import {
  commonExitCodes,
  exitCodes,
  interruptedExitCodes,
  quotaExitCodes,
} from "../../exit-code.js";
import { unattendedOptions } from "../../unattended/options.js";
import { withServices, withSession } from "../../services/services.js";
import { exportSummary, exportTagLists } from "./tag-export.js";

const { json, config, profile } = intelCallGroups.Run;

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
    seenIn: option(z.string().min(1).optional(), {
      description: "Export the tags seen in this earlier output",
      value: "OUT",
    }),
    ...tagExportOptions.shape,
    bogons: option(lookupOptions.shape.bogons, {
      description:
        "What to do with addresses in reserved ranges: local leaves them out of every list, ask keeps them [default local, ask with --local]",
      value: "HOW",
    }),
    exclude: option(lookupOptions.shape.exclude, {
      description:
        "List of what must not be in any list: addresses and networks, one per line, or a warning list of MISP. Repeat it for several lists",
      value: "FILE",
      repeats: true,
    }),
    stateDir: runOptions.shape.stateDir,
  },
  ...intelCallGroups,
  Run: { json, quiet: cliOptions.shape.quiet, config, profile, ...unattendedOptions.shape },
};

type Settings = SettingsOf<typeof groups>;

/** Exports the IP lists of tags as files. */
export const tagsExportCommand = defineCommand({
  name: "tags export",
  isJob: true,
  usage: "NAME... | --all | --seen-in OUT -o DIR [flags]",
  summary: "export the IP lists of tags as files, and what changed",
  description: [
    "Reads the list of each tag from one snapshot, verifies it, and writes it to DIR as <group>--<name>.txt and in any other format of --formats, with files of the addresses added and removed since the previous export. DIR/index.json describes all lists.",
    "A tag that fails keeps its previous list; the others are updated. All files appear at once. To continue an interrupted export, repeat the command.",
  ],
  operands: [["NAME", "name of a tag, <group>:<name>"]],
  groups,
  examples: {
    "repute tags export credentials:brute-force -o lists --local":
      "export one list of the embedded service",
    "repute tags export --all -o lists --formats txt,cidr,nft":
      "export every list in three formats",
    "repute tags export --seen-in enriched.csv -o lists":
      "export the lists of the tags seen in an earlier output",
    "repute tags export spam:snowshoe -o lists --formats nft && nft -f lists/spam--snowshoe.nft":
      "export a list and load it into the firewall",
  },
  exitCodes: [
    ...commonExitCodes,
    ["3", "done, but some tags failed"],
    ...quotaExitCodes,
    ...interruptedExitCodes,
  ],
  run: exportLists,
});

async function exportLists(call: CommandCall<Settings>): Promise<number> {
  const { settings, context, operands, watch } = call;
  watch?.follow({ record: () => emptyReport(settings.output ?? null), toStdout: true });
  const { output: folder, formats, formulaGuard, parallel, restart, maxChange } = settings;
  if (folder === undefined) {
    throw new UsageError("no_output", "tags export needs a folder to write to", {
      hint: "name it with -o DIR",
    });
  }
  const { ExportFolder } = await import("../../../tags/folder/export-folder.js");
  await ExportFolder.check(folder);
  const names = await chooseNames(settings, operands, context);
  // To continue an interrupted export, the command is repeated.
  watch?.follow({ resumable: () => true });
  const prune = settings.prune || settings.all;
  const own = { formats, formulaGuard, parallel, restart, prune, maxChange };
  const what = { names, folder, intents: settings.intent, ...own };
  const report = await withServices(["intel"], call, ({ intel }) =>
    withSession(intel, call, (session) => exportTagLists(session, context, what, settings.quiet)),
  );
  watch?.finish(report);
  const isText = !settings.json && context.reporter.format === "text";
  if (isText && !settings.quiet) context.reporter.print(exportSummary(report));
  return report.failed > 0 ? exitCodes.rowsFailed : exitCodes.done;
}

/** The report of an export that has read nothing. */
function emptyReport(folder: string | null) {
  return { folder, generation: null, tags: [], exported: 0, unchanged: 0, failed: 0, kept: 0 };
}

type Names = (client: IntelClient) => Iterable<string> | Promise<Iterable<string>>;

async function chooseNames(
  { all, seenIn, stateDir }: Settings,
  operands: readonly string[],
  { signal, reporter }: CommandCall<Settings>["context"],
): Promise<Names> {
  const ways = [operands.length > 0, all, seenIn !== undefined].filter(Boolean).length;
  if (ways !== 1) {
    throw new UsageError(
      "which_tags",
      ways === 0 ? "tags export needs tags" : "names, --all and --seen-in exclude each other",
      { hint: "name tags, or add --all or --seen-in OUT" },
    );
  }
  if (all) return (client) => everyTag(client, signal);
  if (seenIn === undefined) return () => operands;
  const { tagsSeenIn, uncountedText } = await import("../../../run/seen-tags.js");
  const seen = await tagsSeenIn(seenIn, stateDir);
  if (seen.uncounted > 0) reporter.warning(uncountedText(seen));
  return () => seen.names;
}

/** @throws FatalError if there are none, since all lists in the folder would be deleted */
async function everyTag(client: IntelClient, signal: AbortSignal): Promise<string[]> {
  const tags = await client.tags({ signal });
  if (tags.length > 0) return tags.map(({ name }) => name);
  throw new FatalError("no_tags", "the service lists no tags", {
    hint: "the folder is unchanged; check the address and the API key, or name the tags",
  });
}
