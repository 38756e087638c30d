import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Journal, type ReplayOptions } from "../../../src/client/store/journal.js";
import { SqliteFile } from "../../../src/client/store/sqlite-file.js";
import { FatalError } from "../../../src/core/errors.js";

export interface OpenedJournal {
  readonly journal: Journal;
  /** Keys of the answers of earlier sessions, in order. */
  readonly replayed: readonly string[];
  /** Lets the file grow no further. */
  readonly fill: () => void;
  readonly close: () => void;
}

/** Opens the journal in a folder, and closes it at the end of the test at the latest. */
export async function openJournal(
  folder: string,
  { chains, ...options }: ReplayOptions & { readonly chains?: number } = {},
): Promise<OpenedJournal> {
  const file = SqliteFile.open(join(folder, "journal.db"), "run");
  const fault = (cause: unknown) => new FatalError("fault", (cause as Error).message, { cause });
  const journal = new Journal(file, { fault, ...(chains !== undefined && { chains }) });
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    try {
      journal.flush();
    } finally {
      file.close();
    }
  };
  onTestFinished(() => {
    try {
      close();
    } catch {
      // The test has seen the fault.
    }
  });
  const replayed = Array.from(journal.replay(options), ({ key }) => key);
  const fill = (): void => {
    file.database.exec(`PRAGMA max_page_count = ${Number(file.pragma("page_count"))}`);
  };
  return { journal, replayed, fill, close };
}
