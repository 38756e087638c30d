import type { SinkFormat } from "../../../io/formats/types.js";
import type { Warehouse } from "../../../io/output/registry.js";
import type { ObjectUpload } from "../../../io/output/publish/object.js";
import type { SinkSettings } from "../../../io/output/options.js";

export type OutputTarget = TextOutputTarget | WarehouseOutputTarget;

interface AnyOutputTarget {
  /** Path of a file that appears by rename, symbolic links resolved; null for anything else. */
  readonly file: string | null;
  /** Path from which the run's own file names derive; null for stdout and devices. */
  readonly base: string | null;
  /** Name for messages, without a password. */
  readonly name: string;
  /** The name with `{date}` or `{run_id}`, if it was given so. */
  readonly pattern?: string | undefined;
  /** Of an object, which is uploaded from a file. */
  readonly upload?: ObjectUpload;
}

/** Settings that name the local file of an object. */
export function localSettings<T extends Pick<SinkSettings, "output">>(
  settings: T,
  { upload }: Pick<OutputTarget, "upload">,
): T {
  return upload === undefined ? settings : { ...settings, output: upload.path };
}

/** Whether the output is a table, which has no files of its own. */
export function isTable({ file, base }: Pick<OutputTarget, "file" | "base">): boolean {
  return file === null && base !== null;
}

/**
 * Path from which the names of what a run leaves derive.
 *
 * @param suffix that of a run with too many failures; the rows that a table does not take are NDJSON
 */
export function resultBase(
  target: Pick<OutputTarget, "file"> & { readonly base: string },
  suffix: string,
): string {
  const base = target.base + suffix;
  return suffix !== "" && isTable(target) ? `${base}.ndjson` : base;
}

/** Text: a file that appears by rename, or a stream, which cannot be resumed. */
export interface TextOutputTarget extends AnyOutputTarget {
  readonly format: SinkFormat;
  readonly gzip: boolean;
  readonly warehouse: null;
}

/** Typed columns: a Parquet file or a database table. */
export interface WarehouseOutputTarget extends AnyOutputTarget {
  readonly base: string;
  readonly format: string;
  readonly gzip: boolean;
  readonly warehouse: Warehouse;
}
