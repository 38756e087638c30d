import { join } from "node:path";
import { onTestFinished } from "vitest";
import { answersSchema } from "../../../src/client/store/answer-table.js";
import { closeDatabase, openStore } from "../../../src/client/store/database.js";
import { Journal, type JournalOptions } from "../../../src/client/store/journal.js";
import { FatalError } from "../../../src/core/errors.js";

export interface OpenedJournal {
  readonly journal: Journal;
  /** Keys of the answers of earlier sessions, in order. */
  readonly replayed: readonly string[];
  /** Lets the file grow no further. */
  readonly fill: () => void;
  readonly closeNow: () => Promise<void>;
}

/** Opens the journal in a folder, and closes it at the end of the test at the latest. */
export async function openJournal(
  folder: string,
  options: Partial<JournalOptions> = {},
): Promise<OpenedJournal> {
  const path = join(folder, "journal.db");
  const database = (await openStore(path, { alone: true, version: 1, schema: answersSchema }))!;
  const fault = (cause: unknown) => new FatalError("fault", (cause as Error).message, { cause });
  const journal = new Journal(database, { path, fault, ...options });
  let closed: Promise<void> | null = null;
  const closeNow = (): Promise<void> =>
    (closed ??= journal.close().then(() => closeDatabase(database, true)));
  onTestFinished(closeNow);
  const { last } = database.prepare("SELECT coalesce(max(n), 0) last FROM answers").get() as {
    readonly last: number;
  };
  const replayed = Array.from(journal.replay(last), ({ key }) => key);
  const fill = (): void => {
    const { page_count: pages } = database.prepare("PRAGMA page_count").get() as {
      readonly page_count: number;
    };
    database.exec(`PRAGMA max_page_count = ${pages}`);
  };
  return { journal, replayed, fill, closeNow };
}
