import { z } from "zod";
import type { IntelClient } from "../../client/api/intel-client.js";
import type { Withheld } from "../../client/lookup/withheld.js";
import type { Clock } from "../../core/clock.js";
import { intents } from "../../core/endpoints/endpoint.js";
import { ReputeError } from "../../core/errors.js";
import { namesAmong, option, share } from "../../core/options.js";
import type { TagExportRecord } from "../../core/manifest.js";
import { tagFormats } from "./export-folder.js";

export const tagExportOptions = z.strictObject({
  formats: option(namesAmong(tagFormats, "format").prefault("txt"), {
    description: `Formats of each list, comma-separated: ${tagFormats.join(", ")}`,
    value: "LIST",
  }),
  intent: option(namesAmong(intents, "intent").optional(), {
    description: `Only tags of these intents, comma-separated: ${intents.join(", ")}. Without it, also lists that are no reason to block anything`,
    value: "LIST",
  }),
  combine: option(
    z
      .string()
      .regex(
        /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/,
        "must be letters, digits, dots, dashes, underscores",
      )
      .refine((name) => !/^(?:index|current|generations)$|--/.test(name), {
        error: "must not be index, current or generations, or contain --",
      })
      .optional(),
    {
      description:
        "Also write one list of all tags of this export together, without duplicates, as NAME.txt and in the other formats",
      value: "NAME",
    },
  ),
  maxChange: option(share().prefault("50%"), {
    description:
      "How much a list of 100 addresses or more may grow or shrink; one that changes more is not replaced and the tag fails. 100% accepts any change",
    value: "N%",
  }),
});

/** Settings without a value have their defaults. */
export interface ExportTagsOptions extends Partial<
  Omit<z.output<typeof tagExportOptions>, "intent">
> {
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
  /** Called with the number of entries read so far, and that which the service reports. */
  readonly onProgress?: (progress: {
    readonly tag: string;
    readonly entries: number;
    readonly total: number;
  }) => void;
  /** Called for each tag that fails. */
  readonly onFault?: ((tag: string, error: ReputeError) => void) | undefined;
  /** Receives warnings for the user, as sentences. */
  readonly onWarning?: ((warning: string) => void) | undefined;
}

/** What became of a tag: as in the manifest of a run, but its files are named as in the folder. */
export type TagResult = Omit<TagExportRecord, "tag"> & { readonly name: string };

/** The result of a tag without a list. */
export const noList = {
  status: "failed",
  snapshot: null,
  total: null,
  added: null,
  removed: null,
  files: [],
} as const;

/**
 * A fault of one tag's list: `snapshot_drift`, `count_mismatch`, `invalid_entry`, `other_tag`,
 * `invalid_tag_name`, `file_name_taken` … Other tags continue.
 */
export class TagExportError extends ReputeError {}
