import type { RowGroup } from "hyparquet";
import { CheckedLines, checkedLine, sideFileDamaged } from "./side-file.js";
import { SideFile } from "./side-file.js";

/** What the log keeps of one row group. */
interface GroupRecord {
  /** Length of the Parquet file behind the group, in bytes. */
  readonly end: number;
  readonly group: RowGroup;
}

/**
 * Keeps what the end of a Parquet file must say about its row groups, one line of JSON a group,
 * until that end can be written. Each line has a checksum.
 */
export class GroupLog {
  readonly #file: SideFile;

  private constructor(file: SideFile) {
    this.#file = file;
  }

  /**
   * Opens a log, cut back to the groups of a file's first `length` bytes; of 0 bytes it is a new one.
   *
   * @throws FatalError `output_*`; `output_state_damaged` when it does not know a group that ends there
   */
  static async reopen(
    path: string,
    length: number,
  ): Promise<{ log: GroupLog; groups: readonly RowGroup[] }> {
    const groups: RowGroup[] = [];
    if (length === 0) return { log: new GroupLog(await SideFile.open(path, null)), groups };
    const lines = await CheckedLines.read(path);
    for (let reached = 0; reached < length;) {
      const record = parse(lines.next());
      groups.push(record.group);
      reached = record.end;
      if (reached > length) throw sideFileDamaged(path, "it ends in another row group", lines);
    }
    return { log: new GroupLog(await SideFile.open(path, lines.length)), groups };
  }

  async append(end: number, group: RowGroup): Promise<void> {
    await this.#file.append(checkedLine(stringify({ end, group })));
  }

  async sync(): Promise<void> {
    await this.#file.sync();
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** JSON has no 64-bit integers; the lengths and counts of Parquet are such. */
function stringify(record: GroupRecord): string {
  return JSON.stringify(record, (_, value: unknown) =>
    typeof value === "bigint" ? { int64: String(value) } : value,
  );
}

function parse(line: string): GroupRecord {
  return JSON.parse(line, (_, value: unknown) => {
    const digits = (value as { int64?: unknown } | null)?.int64;
    return typeof digits === "string" ? BigInt(digits) : value;
  }) as GroupRecord;
}
