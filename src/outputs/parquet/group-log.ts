import type { RowGroup } from "hyparquet";
import {
  checkedLine,
  openSideFile,
  readCheckedLines,
  type SideFile,
  sideFileDamaged,
} from "./side-file.js";

/** What the log stores per row group. */
interface GroupRecord {
  /** Length of the Parquet file after the group, in bytes. */
  readonly end: number;
  readonly group: RowGroup;
}

/**
 * Opens the log of row group metadata, which the Parquet footer needs, and truncates it to the
 * groups in the file's first `length` bytes. A length of 0 creates a new log.
 * @throws FatalError `output_*`; `output_state_damaged` if no group ends at `length`
 */
export async function openGroupLog(
  path: string,
  length: number,
): Promise<{ log: SideFile; groups: readonly RowGroup[] }> {
  const groups: RowGroup[] = [];
  if (length === 0) return { log: await openSideFile(path, null), groups };
  const lines = await readCheckedLines(path);
  for (let reached = 0; reached < length;) {
    const { end, group } = parse(lines.next());
    groups.push(group);
    reached = end;
    if (reached > length) throw sideFileDamaged(path, "it describes another row group", lines);
  }
  return { log: await openSideFile(path, lines.length), groups };
}

/** A line of the log. JSON has no 64-bit integers, which Parquet's lengths and counts are. */
export function groupLine(record: GroupRecord): string {
  const text = JSON.stringify(record, (_, value: unknown) =>
    typeof value === "bigint" ? { int64: String(value) } : value,
  );
  return checkedLine(text);
}

function parse(line: string): GroupRecord {
  return JSON.parse(line, (_, value: unknown) => {
    const digits = (value as { int64?: unknown } | null)?.int64;
    return typeof digits === "string" ? BigInt(digits) : value;
  }) as GroupRecord;
}
