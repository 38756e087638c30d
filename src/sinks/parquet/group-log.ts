import { readFile } from "node:fs/promises";
import type { RowGroup } from "hyparquet";
import { SideFile } from "./side-file.js";

/** What the log keeps of one row group. */
interface GroupRecord {
  /** Length of the Parquet file behind the group, in bytes. */
  readonly end: number;
  readonly group: RowGroup;
}

/**
 * Keeps what the end of a Parquet file must say about its row groups, one line of JSON a group,
 * until that end can be written.
 */
export class GroupLog {
  readonly #file: SideFile;

  private constructor(file: SideFile) {
    this.#file = file;
  }

  /** Begins an empty log. @throws FatalError `output_*` */
  static async create(path: string): Promise<GroupLog> {
    return new GroupLog(await SideFile.open(path, null));
  }

  /**
   * Cuts a log back to the groups of a file's first `length` bytes.
   *
   * @returns null when it knows no group that ends there
   * @throws FatalError `output_*`
   */
  static async reopen(
    path: string,
    length: number,
  ): Promise<{ log: GroupLog; groups: readonly RowGroup[] } | null> {
    const bytes = await readFile(path).catch(() => null);
    if (bytes === null) return null;
    const groups: RowGroup[] = [];
    let kept = 0;
    let reached = 0;
    while (reached < length) {
      const end = bytes.indexOf(0x0a, kept);
      if (end < 0) break;
      const record = parse(bytes.toString("utf8", kept, end));
      groups.push(record.group);
      reached = record.end;
      kept = end + 1;
    }
    if (reached !== length) return null;
    return { log: new GroupLog(await SideFile.open(path, kept)), groups };
  }

  async append(end: number, group: RowGroup): Promise<void> {
    await this.#file.append(`${stringify({ end, group })}\n`);
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
