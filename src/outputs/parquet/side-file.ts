import { open, readFile } from "node:fs/promises";
import { outputFault } from "../output-fault.js";
import { crc32 } from "node:zlib";
import { FatalError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";

/** An append-only file beside the output with state that a resume needs. */
export interface SideFile {
  /** @throws FatalError `output_*` */
  append(text: string): Promise<void>;
  /** @throws FatalError `output_*` */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param keep length to truncate an existing file to before appending; null starts an empty file
 * @throws FatalError `output_*`
 */
export async function openSideFile(path: string, keep: number | null): Promise<SideFile> {
  const refuse = (error: unknown): never => {
    throw outputFault(path, error);
  };
  const handle = await open(path, keep === null ? "w" : "a", 0o600).catch(refuse);
  if (keep !== null) await handle.truncate(keep).catch(refuse);
  return {
    append: (text) => handle.appendFile(text).catch(refuse),
    sync: () => handle.datasync().catch(refuse),
    close: () => handle.close().catch(() => undefined),
  };
}

/** Formats a text without line feeds as a line that starts with its CRC-32. */
export function checkedLine(text: string): string {
  return `${checksumOf(text)} ${text}\n`;
}

/** Length of the checksum and the space after it. */
const headBytes = 9;

/** Reads lines written by `checkedLine`. */
export interface CheckedLines {
  /** Length and number of the lines read so far. */
  readonly length: number;
  readonly lines: number;
  /** The text of the next line. @throws FatalError `output_state_damaged` */
  next(): string;
}

/** @throws FatalError `output_state_damaged` if the file is missing, `output_*` */
export async function readCheckedLines(path: string): Promise<CheckedLines> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw outputFault(path, error);
    throw new FatalError("output_state_damaged", `${path} is missing`, {
      cause: error,
      hint: startOver,
    });
  });
  const read = { length: 0, lines: 0 };
  return Object.assign(read, {
    next(): string {
      const end = bytes.indexOf(0x0a, read.length);
      if (end < 0) throw sideFileDamaged(path, "the file ends too early", read);
      const head = bytes.toString("latin1", read.length, read.length + headBytes);
      const text = bytes.toString("utf8", read.length + headBytes, end);
      if (head !== `${checksumOf(text)} `) {
        throw sideFileDamaged(path, "its checksum is wrong", read);
      }
      read.length = end + 1;
      read.lines++;
      return text;
    },
  });
}

/** The error for a line that is missing or damaged. */
export function sideFileDamaged(
  path: string,
  what: string,
  { lines, length }: Pick<CheckedLines, "lines" | "length">,
): FatalError {
  const message = `${path} is damaged at line ${lines + 1} (byte ${length}): ${what}`;
  return new FatalError("output_state_damaged", message, { hint: startOver });
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
