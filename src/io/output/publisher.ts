import type { MadeUp, TableData } from "../../core/finding.js";
import type { FatalError, ReputeError, UsageError } from "../../core/errors.js";
import type { Clock } from "../../core/clock.js";
import type { Encoder, SinkFormat } from "../formats/types.js";
import { type Stage, stagePath } from "./stage.js";
import type { Manifest } from "../../core/manifest.js";
import type { Destination } from "./part-file.js";
import type { TableSchemaOptions } from "./typed/table-schema.js";

/** An output of a run, of any kind: what it is, and what lets the run's staged rows appear in it. */
export interface Publisher {
  /** Says what a run leaves there. @param suffix that of a run with too many failures. @default none */
  describe(suffix?: string): OutputDescription;
  /**
   * Checks before the first request what would otherwise fail after the last: rights, columns, names.
   *
   * @param encode makes the encoder of text
   * @throws ReputeError
   */
  check(encode: () => Encoder): Promise<CheckedOutput>;
  /**
   * Publishes the rows. May be repeated, whenever it was killed: the result is the same.
   *
   * @throws ReputeError
   */
  publish(stage: Stage, as: PublishedAs): Promise<WrittenOutput>;
}

/** What the manifest says of published rows. A STIX bundle does not hold them one by one. */
export type WrittenOutput = Pick<Manifest["output"], "bytes" | "sha256"> &
  Partial<Pick<Manifest["output"], "rows" | "indicators" | "without_key">>;

interface OutputDescription {
  /** For the manifest, and the format of its rows; null for a stream. */
  readonly path: string | null;
  readonly format: string;
  /** Path from which the name of its manifest derives; null for a stream, which has none. */
  readonly base: string | null;
  /** The file whose part file has the rows until they are published; null if a stream gets them at once. */
  readonly stage: string | null;
  /** Whether the staged rows are compressed. */
  readonly isCompressed: boolean;
  /** Whether the rows of a run that stops early are published, and the others with its end. */
  readonly takesParts: boolean;
}

export interface CheckedOutput {
  /** Encodes rows for the stage. */
  readonly encoder: Encoder;
  /** What to tell the user of columns that are stored otherwise than they are in the input. */
  readonly warnings?: readonly string[];
  /** Of a table: the rows of the run before; null or absent if there is none. */
  readonly earlierRows?: number | null | undefined;
  /** Of a table: whose answers it holds; null or absent if there are none. */
  readonly holds?: TableData | null | undefined;
}

interface PublishedAs {
  /** Appended to the output's name: the run has too many failures. */
  readonly suffix: string;
  /** When they are published, in milliseconds: the same whenever it is repeated. */
  readonly at: number;
  /** The manifest of the run with what is written; null for none. */
  readonly manifest: (written: WrittenOutput) => Manifest | null;
}

/** What a publisher needs to know about the run. */
export interface PublisherOptions extends TableSchemaOptions {
  /** Of the output, for messages and the manifest, without a password. */
  readonly name: string;
  /** The file that appears; null for a table and a stream. */
  readonly file: string | null;
  /** Path from which the names of the run's own files derive; null for a stream. */
  readonly base: string | null;
  /** Value of `rep_run_id` in every row; kept by a resumed run. */
  readonly runId: string;
  /** The folder of the run's state, where rows wait that are not the output's own text. */
  readonly folder: string;
  /** How text is written, and what opens the stream of an output that is no file; null for no text. */
  readonly text: {
    readonly format: SinkFormat;
    readonly gzip: boolean;
    readonly openStream: () => Promise<Destination>;
  } | null;
  /** Called for each value that cannot be stored unchanged, with one message per kind. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Aborts waiting for an unreachable server. */
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock | undefined;
  /** Set if the answers of the run are known to be made up. */
  readonly madeUp?: MadeUp | undefined;
}

/**
 * Describes an output: a file, an object that is uploaded from it, a stream, or a place that takes only
 * the rows of a run without too many failures; those of any other become NDJSON beside the run's state.
 *
 * @param kind how it differs from an output with this format and rows in the state's folder
 */
export function describer(
  { name, file, base, folder }: Pick<PublisherOptions, "name" | "file" | "base" | "folder">,
  kind: Pick<OutputDescription, "format"> & Partial<OutputDescription>,
): (suffix?: string) => OutputDescription {
  const own = { stage: stagePath(folder), isCompressed: false, takesParts: false, ...kind };
  return (suffix = "") => {
    if (base === null) return { ...own, path: null, base };
    if (file !== null || suffix === "") return { ...own, path: name + suffix, base: base + suffix };
    const path = `${base}${suffix}.ndjson`;
    return { ...own, path, format: "ndjson", base: path };
  };
}

/**
 * Explains why a table takes no rows of a run.
 *
 * @param holds whose answers it holds
 */
export function mixedData(
  Kind: typeof FatalError | typeof UsageError,
  name: string,
  holds: TableData,
): ReputeError {
  const what =
    holds === "real"
      ? "rows of a real service, and takes no made-up ones"
      : "made-up rows (--local or repute serve), and takes none of a real service";
  return new Kind("made_up_rows", `${name} holds ${what}`, { hint: "write to another table" });
}
