import { z } from "zod";
import { option } from "../core/options.js";
import { sinkFormats } from "../formats/registry.js";
import { FatalError } from "../core/errors.js";

/** How the output is written. */
export const sinkOptions = z.strictObject({
  to: option(z.enum(sinkFormats).optional(), {
    description:
      "Format of the output; by default from the file's extension, else that of the input (ndjson for ndjson, csv otherwise). ecs, ocsf and stix are shapes for security platforms, written only when named here",
    value: "FORMAT",
  }),
  rejects: option(z.string().min(1).optional(), {
    description:
      "Also write the rows that became neither complete nor partial to this file, in the input's own form and with the reason, so that it can be run again",
    value: "PATH",
  }),
  prefix: option(
    z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_]{0,31}$/, "must begin with a letter; letters, digits and _ only")
      .default("rep_"),
    { description: "What the names of the added columns begin with", value: "TEXT" },
  ),
  shape: option(z.enum(["flat", "nested"]).optional(), {
    description:
      "NDJSON output: nested adds one member with everything as received, flat adds the columns; default nested",
    value: "SHAPE",
  }),
  formulaGuard: option(z.boolean().default(true), {
    description:
      "Neutralise added CSV cells that a spreadsheet would run as a formula; --no-formula-guard leaves them as received",
  }),
});

export type SinkSettings = z.output<typeof sinkOptions>;

const causes: Readonly<Record<string, readonly [code: string, text: string, hint: string]>> = {
  ENOSPC: ["output_disk_full", "the disk is full", "free some space, then run again"],
  EDQUOT: ["output_disk_full", "the disk quota is used up", "free some space, then run again"],
  EFBIG: ["output_too_large", "the file has reached its largest size", "write elsewhere"],
  EIO: ["output_io", "the disk reports an error", "check the disk, then run again"],
  EROFS: ["output_read_only", "the file system is read-only", "write elsewhere"],
  EACCES: ["output_denied", "permission denied", "check the folder's owner and mode"],
  EPERM: ["output_denied", "operation not permitted", "check the folder's owner and mode"],
  ENOENT: ["output_folder_missing", "the folder does not exist", "create the folder first"],
  ENOTDIR: ["output_folder_missing", "a part of the path is no folder", "check the path"],
  EISDIR: ["output_is_directory", "it is a directory", "name a file"],
};

/** Explains why an output cannot be written, for the person who has to mend it. */
export function outputFault(path: string, error: unknown): Error {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "";
  const known = causes[code];
  if (known) {
    return new FatalError(known[0], `cannot write ${path}: ${known[1]}`, {
      cause: error,
      hint: known[2],
    });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new FatalError("output_unwritable", `cannot write ${path}: ${text}`, { cause: error });
}
