import { counted } from "../../../core/text/quantity.js";
import type { IntelClient } from "../../../api/intel-client.js";
import type { CommandCall } from "../../command.js";
import type { TagFormat } from "../../../tags/list-formats/types.js";
import type { ExportReport, TagProgress } from "../../../tags/types.js";
import type { Session } from "../../../session/session.js";

/** Which lists to export, and how. */
export interface TagExport {
  /** Names of the tags, possibly read with the client. */
  readonly names: (client: IntelClient) => Iterable<string> | Promise<Iterable<string>>;
  readonly folder: string;
  readonly runId?: string;
  /** Only tags of these intents. */
  readonly intents?: readonly string[] | undefined;
  readonly maxChange?: number;
  readonly formats?: readonly TagFormat[];
  readonly formulaGuard?: boolean;
  readonly parallel?: number;
  readonly prune?: boolean;
  readonly restart?: boolean;
}

/**
 * Exports tag lists with the rate limits and retries of the main job, and reports progress. A failed
 * tag is an error on stderr, `--quiet` or not.
 */
export async function exportTagLists(
  session: Session,
  context: CommandCall<unknown>["context"],
  { names, intents, ...options }: TagExport,
  quiet: boolean,
): Promise<ExportReport> {
  const { exportTags } = await import("../../../tags/export-tags.js");
  const { clock, signal, reporter, stderr } = context;
  const printProgress =
    quiet || stderr.isTTY !== true
      ? () => undefined
      : progressPrinter((text) => reporter.print(text));
  const onProgress = (progress: TagProgress): void => {
    reporter.describe(() => progressText(progress));
    printProgress(progress);
    const { tag, error } = progress;
    if (error === null) return;
    const { code, hint } = error;
    const reason = error.message.replace(`tag ${tag}: `, "");
    reporter.fault(`could not export tag ${tag}: ${reason}`, hint, { code, tag });
  };
  const { service } = session;
  const client = await session.intel();
  return exportTags({
    ...options,
    client,
    source: service.embedded ? "the embedded service" : service.url,
    names: await ofIntents(intents, await names(client), client, signal),
    withheld: await session.withheld(),
    clock,
    signal,
    onProgress,
    onWarning: (message) => reporter.warning(message),
  });
}

/** The names of tags whose intent is one of those given, in their order. Unknown tags stay. */
async function ofIntents(
  intents: readonly string[] | undefined,
  names: Iterable<string>,
  client: IntelClient,
  signal: AbortSignal,
): Promise<Iterable<string>> {
  if (intents === undefined) return names;
  const tags = await client.tags({ signal });
  const others = tags.filter(({ intent }) => !intents.includes(intent ?? "unknown"));
  const left = new Set(others.map(({ name }) => name));
  return Array.from(names).filter((name) => !left.has(name));
}

/** Prints a line per million entries read. */
function progressPrinter(print: (text: string) => void): (progress: TagProgress) => void {
  const shown = new Map<string, number>();
  return (progress) => {
    const { tag, state, entries } = progress;
    const step = Math.floor(entries / 1_000_000);
    if (state !== "reading" || step <= (shown.get(tag) ?? 0)) return;
    shown.set(tag, step);
    print(`  ${progressText(progress)}`);
  };
}

function progressText({ tag, entries, total }: TagProgress): string {
  return `${tag}: ${entries} of ${total ?? "?"} addresses read`;
}

/** The result of an export as text. */
export function exportSummary(report: ExportReport): string {
  const lines = report.tags.map(({ name, status, error, total, added, removed }) =>
    status === "failed"
      ? `  ${name}: failed, ${error?.message ?? "no reason"}`
      : `  ${name}: ${counted(total ?? 0, "address")}, ${added} added, ${removed} removed${status === "unchanged" ? " (unchanged)" : ""}`,
  );
  const kept = report.kept > 0 ? `, ${report.kept} kept from the previous export` : "";
  const head = `repute: ${report.exported + report.unchanged} of ${report.tags.length} lists exported to ${report.folder}${kept}`;
  return [head, ...lines].join("\n");
}
