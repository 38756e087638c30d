import type { IntelClient } from "../../api/intel-client.js";
import type { CommandCall } from "../command.js";
import type { ServiceAccess } from "../services/services.js";
import type { TagFormat } from "../../tags/formats/types.js";
import type { ExportReport, TagProgress } from "../../tags/types.js";
import { withClient } from "../services/with-client.js";
import type { RequestCall } from "../services/with-client.js";

/** Which lists are exported, and how. */
export interface TagExport {
  /** Names of the tags; the client can tell which there are. */
  readonly names: (client: IntelClient) => Iterable<string> | Promise<Iterable<string>>;
  readonly folder: string;
  readonly runId?: string;
  readonly formats?: readonly TagFormat[];
  readonly formulaGuard?: boolean;
  readonly keep?: number;
  readonly parallel?: number;
  readonly prune?: boolean;
  readonly restart?: boolean;
}

type ExportCall = RequestCall & Pick<CommandCall<unknown>, "context">;

/**
 * Exports lists of tags under the pace and retries of the main job, and tells how each goes. A tag
 * that fails is reported at once, quiet or not.
 */
export async function exportTagLists(
  intel: ServiceAccess,
  call: ExportCall,
  { names, ...options }: TagExport,
  quiet: boolean,
): Promise<ExportReport> {
  const { exportTags } = await import("../../tags/export-tags.js");
  const { clock, signal, reporter, stderr } = call.context;
  const tell =
    quiet || stderr.isTTY !== true
      ? () => undefined
      : progressTeller((text) => reporter.print(text));
  const onProgress = (progress: TagProgress): void => {
    reporter.describe(() => progressText(progress));
    tell(progress);
    const { tag, error } = progress;
    if (error === null) return;
    const hint = error.hint === null ? "" : `\n  ${error.hint}`;
    reporter.print(`repute: the list of tag ${tag} was not exported: ${error.message}${hint}`);
  };
  return withClient("intel", intel, call, async (client) =>
    exportTags({
      ...options,
      client,
      source: intel.embedded ? "the embedded service" : intel.url,
      names: await names(client),
      clock,
      signal,
      onProgress,
      onWarning: (message) => reporter.warning(message),
    }),
  );
}

/** A line for every million entries of a tag that is read. */
function progressTeller(print: (text: string) => void): (progress: TagProgress) => void {
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

/** The result of an export, for a person. */
export function exportSummary(report: ExportReport): string {
  const lines = report.tags.map(({ name, status, error, total, added, removed }) =>
    status === "failed"
      ? `  ${name}: failed, ${error?.message ?? "no reason"}`
      : `  ${name}: ${total} addresses, ${added} added, ${removed} removed${status === "unchanged" ? " (as before)" : ""}`,
  );
  const kept = report.kept > 0 ? `, ${report.kept} kept from before` : "";
  const head = `repute: ${report.exported + report.unchanged} of ${report.tags.length} lists exported to ${report.folder}${kept}`;
  return [head, ...lines].join("\n");
}
