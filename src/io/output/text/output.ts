import { basename, extname } from "node:path";
import { fileParts, sharedPath, withoutFailed } from "../../../core/files/output-names.js";
import { realPath } from "../../../core/files/folders.js";
import { detectSinkFormat } from "../../formats/registry.js";
import type { KindOutput } from "../output.js";

/** A text file, a device, or `-` for stdout. */
export function textOutput(name: string): KindOutput {
  const parts = fileParts(name);
  const base = (): string => realPath(sharedPath(name));
  if (name === "-") {
    return {
      name: "stdout",
      isStdout: true,
      format: null,
      file: null,
      parts,
      base,
      publisher: null,
    };
  }
  const { format, gzip } = detectSinkFormat(withoutFailed(name));
  const unknownExtension = format === null ? extensionOf(name) : null;
  return {
    name,
    format,
    gzip,
    unknownExtension,
    file: realPath(name),
    parts,
    base,
    publisher: null,
  };
}

/** The extension, with its dot and without `.gz`; null if there is none. */
function extensionOf(path: string): string | null {
  const extension = extname(basename(path).replace(/\.gz$/i, ""));
  return extension === "" || extension === "." ? null : extension;
}
