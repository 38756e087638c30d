import { join } from "node:path";
import { onTestFinished } from "vitest";
import { answersSchema } from "../../../src/client/store/answer-table.js";
import { Batches } from "../../../src/client/store/batches.js";
import { closeDatabase, openStore } from "../../../src/client/store/database.js";
import { Journal, type JournalOptions } from "../../../src/client/store/journal.js";
import { FatalError } from "../../../src/core/errors.js";

export interface OpenedJournal {
  readonly journal: Journal;
  readonly batches: Batches;
  /** Keys of the answers of earlier sessions, in order. */
  readonly replayed: readonly string[];
  /** Lets the file grow no further. */
  readonly fill: () => void;
  readonly close: () => void;
}

/** Opens the journal in a folder, and closes it at the end of the test at the latest. */
export async function openJournal(
  folder: string,
  options: JournalOptions = {},
): Promise<OpenedJournal> {
  const path = join(folder, "journal.db");
  const database = (await openStore(path, { alone: true, version: 1, schema: answersSchema }))!;
  const fault = (cause: unknown) => new FatalError("fault", (cause as Error).message, { cause });
  const batches = new Batches(database, { path, fault });
  const journal = new Journal(database, batches, options);
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    batches.close();
    closeDatabase(database, true);
  };
  onTestFinished(close);
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
  return { journal, batches, replayed, fill, close };
}
