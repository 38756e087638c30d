import { defaultRowsPerFile } from "../../outputs/data-set/data-set.js";
import type { PartFormat, PartOptions } from "../../outputs/types.js";
import type { EncoderOptions } from "../../formats/types.js";
import type { SinkSettings } from "../../outputs/options.js";
import type { OutputTarget } from "./output-target.js";

/** How a run's rows are encoded, in any format. */
export function encoderOptions(
  {
    prefix,
    shape,
    formulaGuard,
    esIndex,
    esAction,
    esId,
  }: Pick<SinkSettings, "prefix" | "shape" | "formulaGuard" | "esIndex" | "esAction" | "esId">,
  { format }: Pick<OutputTarget, "format">,
  rest: Pick<EncoderOptions, "columns" | "added" | "clock">,
): EncoderOptions {
  const flatOrNested = shape ?? (format === "ndjson" ? "nested" : "flat");
  const form = { prefix, shape: flatOrNested, formulaGuard, esIndex, esAction, esId };
  return { ...rest, ...form };
}

/** How the files of a data set are written; undefined for any other output. */
export function partOptions(
  settings: SinkSettings,
  { format, gzip, base, partsId }: OutputTarget,
  {
    wrapEncoder,
    ...rest
  }: Pick<EncoderOptions, "columns" | "added" | "clock"> & Pick<PartOptions, "wrapEncoder">,
): PartOptions | undefined {
  if (base?.endsWith("/") !== true) return undefined;
  return {
    format: format as PartFormat,
    gzip,
    rows: settings.rowsPerFile ?? defaultRowsPerFile,
    encoder: encoderOptions(settings, { format }, rest),
    id: partsId,
    wrapEncoder,
  };
}
