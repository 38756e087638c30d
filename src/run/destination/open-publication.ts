import { addedColumns, type OptionalColumns } from "../../core/columns.js";
import type { Clock } from "../../core/clock.js";
import { raceAbort } from "../../core/abort.js";
import type { InputType } from "../../formats/typed-column.js";
import type { Encoder } from "../../formats/types.js";
import type { Publication } from "../../outputs/publication.js";
import type { PartRecord } from "../../core/manifest/manifest.js";
import { partOptions } from "./encoder-options.js";
import type { EnrichJob } from "../types.js";
import type { WarehouseOutputTarget } from "./output-target.js";

export interface OpenPublicationOptions {
  /** The input's column names. */
  readonly columns: readonly string[];
  /** Their types. @default text */
  readonly types?: readonly InputType[] | undefined;
  readonly runId: string;
  /** The optional columns of the rows. */
  readonly optional: OptionalColumns;
  readonly clock: Clock;
  /** Folder of the staged rows. */
  readonly stateFolder: string;
  /** Wraps the encoder of a data set of text. */
  readonly wrapEncoder?: ((encoder: Encoder) => Encoder) | undefined;
  /** The files of a data set whose run is finished. */
  readonly finished?: readonly PartRecord[] | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** Checks where a run will be published. @throws ReputeError */
export function openPublication(
  { settings, signal }: EnrichJob,
  target: WarehouseOutputTarget,
  { wrapEncoder, onWarning, ...options }: OpenPublicationOptions,
): Promise<Publication> {
  const { columns, optional, clock } = options;
  const added = addedColumns(optional);
  const opening = target.warehouse.open({
    ...options,
    prefix: settings.output.prefix,
    base: target.base,
    mode: settings.output.mode,
    key: settings.output.key,
    signal,
    ...(onWarning && { onWarning }),
    parts: partOptions(settings.output, target, { columns, added, clock, wrapEncoder }),
  });
  return raceAbort(opening, signal, () => undefined);
}
