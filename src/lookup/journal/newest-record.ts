import type { Finding } from "../../core/finding.js";
import { decodeRecord, readHead } from "./finding-record.js";
import type { JournalFile } from "./journal-file.js";
import { type RecordGroup, unknownPrevious } from "./record-group.js";
import type { SequenceIndex } from "./sequence-index.js";

/** Where a journal has its records. */
export interface RecordPlaces {
  /** Those that the database does not have yet. */
  readonly group: RecordGroup;
  /** Those that it is taking over. */
  readonly writing: RecordGroup | null;
  readonly index: SequenceIndex;
  readonly file: JournalFile;
}

export interface FoundRecord {
  readonly sequence: number;
  readonly finding: Finding;
}

/**
 * Follows the records with a hash back to the newest one with the key. Null: there is none; undefined:
 * that is in the file, which cannot be read now.
 */
export function newestRecord(
  key: string,
  hash: number,
  { group, writing, index, file }: RecordPlaces,
): FoundRecord | null | undefined {
  const readable = file.ready && !file.crowded;
  let sequence = group.find(hash) || writing?.find(hash) || unknownPrevious;
  for (;;) {
    if (sequence === unknownPrevious) {
      if (!readable) return undefined;
      sequence = index.find(hash);
    }
    if (sequence === 0) return null;
    let bytes = group.at(sequence) ?? writing?.at(sequence);
    if (bytes === undefined) {
      if (!readable) return undefined;
      bytes = file.readRecord(sequence);
    }
    if (bytes === undefined) return null;
    const { previous } = readHead(bytes);
    const { key: found, finding } = decodeRecord(bytes);
    if (found === key) return { sequence, finding };
    sequence = previous;
  }
}
