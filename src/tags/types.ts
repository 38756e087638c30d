import type { IntelClient } from "../api/intel-client.js";
import type { Clock } from "../core/clock.js";
import type { Failure } from "./folder/export-index.js";
import type { TagFormat } from "./formats/types.js";

/** What an export asks of the service; the client's `send` has pace and retry. */
export type TagService = Pick<IntelClient, "tag" | "tagIps">;

export interface ExportTagsOptions {
  readonly client: TagService;
  /** Address of the service. An interrupted export is continued only at the same one. */
  readonly source: string;
  /**
   * Run whose tags these are. An export of the same tags that is there already for this run is not
   * repeated: it would find its own lists unchanged.
   */
  readonly runId?: string | undefined;
  /** The tags; a name that comes again is passed over. */
  readonly names: Iterable<string> | AsyncIterable<string>;
  /** Where the lists go; made where it is not there. */
  readonly folder: string;
  /** @default ["txt"] */
  readonly formats?: readonly TagFormat[] | undefined;
  /** Neutralise CSV cells that a spreadsheet would run as a formula. @default true */
  readonly formulaGuard?: boolean | undefined;
  /** Exports that the folder holds, the current one included; at least 1. @default 2 */
  readonly keep?: number | undefined;
  /** Tags that are read at once, at least 1. @default 4 */
  readonly parallel?: number | undefined;
  /** Drop tags that the folder has and `names` has not, instead of keeping them. @default false */
  readonly prune?: boolean | undefined;
  /** Throw away what an interrupted export left, instead of going on from it. @default false */
  readonly restart?: boolean | undefined;
  readonly clock: Clock;
  /** Aborting it ends the export with the signal's reason; the folder stays, the next one goes on. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TagProgress) => void) | undefined;
  /** Told of what a person should know, as a sentence. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

/** How far one tag is. */
export interface TagProgress {
  readonly tag: string;
  readonly state: "reading" | "writing" | "exported" | "unchanged" | "failed";
  /** Pages that are here, those of an interrupted export included. */
  readonly pages: number;
  /** Entries on them. */
  readonly entries: number;
  /** Entries that the service says there are; null before the first page. */
  readonly total: number | null;
  /** Why it failed, and what to do about it; null otherwise. */
  readonly error: { readonly message: string; readonly hint: string | null } | null;
}

/** What the export came to for one tag. */
export interface TagResult {
  readonly name: string;
  readonly status: "exported" | "unchanged" | "failed";
  /** Why it failed; null otherwise. */
  readonly error: Failure | null;
  /** Addresses in the list, and against the list before: null for a failed one. */
  readonly total: number | null;
  readonly added: number | null;
  readonly removed: number | null;
  /** Names of its files in the folder; none for a failed one. */
  readonly files: readonly string[];
}

/** What an export came to. */
export interface ExportReport {
  readonly folder: string;
  /**
   * The new generation, from the folder; null when none was made, because no tag could be exported
   * or none was asked for. Then the folder is as it was.
   */
  readonly generation: string | null;
  /** In the order of the names. */
  readonly tags: readonly TagResult[];
  readonly exported: number;
  readonly unchanged: number;
  readonly failed: number;
  /** Tags that were not asked for and whose lists stay in the folder. */
  readonly kept: number;
}
