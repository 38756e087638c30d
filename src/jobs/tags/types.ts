import { ServiceError } from "../../client/api/status-fault.js";
import type { IntelClient } from "../../client/api/intel-client.js";
import type { z } from "zod";
import type { Clock } from "../../core/clock.js";
import { faultReason } from "../../core/files/system-fault.js";
import { FatalError, ReputeError } from "../../core/errors.js";
import type { Withheld } from "../../client/lookup/withheld.js";
import type { ExportedTag, ExportIndex } from "./export-index.js";
import type { tagExportOptions } from "./options.js";

type TagExportSettings = z.output<typeof tagExportOptions>;

/** Settings without a value have their defaults. */
export interface ExportTagsOptions extends Partial<Omit<TagExportSettings, "intent">> {
  /** Its `send` obeys pace and retries. */
  readonly client: Pick<IntelClient, "tag" | "iterateTagIps">;
  /**
   * Run whose tags these are. If the folder already has this run's export of the same tags, it is
   * not repeated: that would report every list as unchanged.
   */
  readonly runId?: string | undefined;
  /** Names of the tags; duplicates are ignored. */
  readonly names: Iterable<string>;
  readonly folder: string;
  /** What must not be in a list. */
  readonly withheld: Withheld;
  /** Tags to read in parallel. @default 4 */
  readonly parallel?: number | undefined;
  /** Deletes lists in the folder that are not part of this export. @default false */
  readonly prune?: boolean | undefined;
  readonly clock: Clock;
  /** Aborting ends the export with the signal's reason. The folder stays unchanged. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TagProgress) => void) | undefined;
  /** Called for each tag that fails. */
  readonly onFault?: ((tag: string, error: ReputeError) => void) | undefined;
  /** Receives warnings for the user, as sentences. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

export interface TagProgress {
  readonly tag: string;
  /** Entries read so far, of the total that the service reports. */
  readonly entries: number;
  readonly total: number;
}

export interface TagResult {
  readonly name: string;
  readonly status: "exported" | "unchanged" | "failed";
  /** Why it failed; null otherwise. */
  readonly error: ExportedTag["error"];
  /** Snapshot that the list was read from; null on failure. */
  readonly snapshot: string | null;
  /** Addresses in the list, and its changes against the previous one; null on failure. */
  readonly total: number | null;
  readonly added: number | null;
  readonly removed: number | null;
  /** Names of its files in the folder; empty on failure. */
  readonly files: readonly string[];
}

export interface ExportReport {
  readonly folder: string;
  /**
   * Path of the new generation within the folder; null if none was made because no tag was exported
   * or requested. The folder is then unchanged.
   */
  readonly generation: string | null;
  /** The list of all tags together; null without `combine` or a new generation. */
  readonly combined:
    | (Pick<NonNullable<ExportIndex["combined"]>, "name" | "total"> & {
        readonly files: readonly string[];
      })
    | null;
  /** In the order of the names. */
  readonly tags: readonly TagResult[];
  readonly exported: number;
  readonly unchanged: number;
  readonly failed: number;
  /** Tags that were not requested and whose lists stay in the folder. */
  readonly kept: number;
}

/**
 * A fault of one tag's list: `snapshot_drift`, `count_mismatch`, `invalid_entry`, `other_tag`,
 * `invalid_tag_name`, `file_name_taken` … Other tags continue.
 */
export class TagExportError extends ReputeError {}

export function isTagFault(error: unknown): error is ServiceError | TagExportError {
  return error instanceof ServiceError || error instanceof TagExportError;
}

export function exportFault(path: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  return new FatalError("export_unwritable", `cannot write ${path}: ${faultReason(error)}`, {
    cause: error,
    hint: "fix that and run again: the folder still holds the previous export",
  });
}
