import type { IntelClient } from "../../client/api/intel-client.js";
import type { z } from "zod";
import type { Clock } from "../../core/clock.js";
import type { Withheld } from "../../client/lookup/withheld.js";
import type { ExportedTag, ExportIndex } from "./folder/export-index.js";
import type { tagExportOptions } from "./options.js";

/** The part of the client that an export uses. Its `send` obeys pace and retries. */
type TagService = Pick<IntelClient, "tag" | "iterateTagIps">;

type TagExportSettings = z.output<typeof tagExportOptions>;

/** Settings without a value have their defaults. */
export interface ExportTagsOptions extends Partial<Omit<TagExportSettings, "intent">> {
  readonly client: TagService;
  /**
   * Run whose tags these are. If the folder already has this run's export of the same tags, it is
   * not repeated: that would report every list as unchanged.
   */
  readonly runId?: string | undefined;
  /** Names of the tags; duplicates are ignored. */
  readonly names: Iterable<string> | AsyncIterable<string>;
  readonly folder: string;
  /** What must not be in a list. */
  readonly withheld: Withheld;
  readonly clock: Clock;
  /**
   * Aborting ends the export with the signal's reason. The folder stays unchanged.
   */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: TagProgress) => void) | undefined;
  /** Receives warnings for the user, as sentences. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

export interface TagProgress {
  readonly tag: string;
  readonly state: "reading" | "writing" | "exported" | "unchanged" | "failed";
  readonly pages: number;
  readonly entries: number;
  /** Total reported by the service; null before the first page. */
  readonly total: number | null;
  /** Why it failed and what to do; null otherwise. */
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint: string | null;
  } | null;
}

/** The progress of a tag before its first page. */
export const noProgress = {
  state: "reading",
  pages: 0,
  entries: 0,
  total: null,
  error: null,
} as const;

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

/** Metadata of a list that a file may include. Nothing in it changes as long as the list does not. */
export interface ListMetadata {
  readonly tag: string;
  readonly sets: ExportedTag["sets"];
}
