import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { LookupRecord } from "../../../../src/core/finding.js";
import { type JournalOptions, openJournal } from "../../../../src/client/store/journal/journal.js";
import { textHash } from "../../../../src/client/store/cache-key.js";
import type { LookupStore } from "../../../../src/client/store/store.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { complete, failed } from "../../lookup/attempts.js";

async function journalFolder(): Promise<string> {
  return join(await temporaryFolder(), "out.csv.state", "journal");
}

/** Opens a journal and closes it at the end of the test at the latest. */
async function opened(
  options: JournalOptions,
): Promise<LookupStore & { closeNow(): Promise<void> }> {
  const journal = await openJournal(options);
  let closed: Promise<void> | null = null;
  const closeNow = (): Promise<void> => (closed ??= journal.close());
  onTestFinished(closeNow);
  return Object.assign(journal, { closeNow });
}

/** Two keys with the same hash. */
const [one, other] = ["text 79568", "text 664010"] as const;

/** Few enough that each chain of the index has many records. */
const small = { chains: 64 };

async function putMany(journal: LookupStore, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 50) {
    const numbers = Array.from({ length: Math.min(50, to - at) }, (_, i) => at + i);
    await Promise.all(numbers.map((n) => journal.put(`key ${n}`, complete({ n }))));
  }
}

/** Numbers of findings that differ from what was stored. */
async function wrong(journal: LookupStore, from: number, to: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let n = from; n < to; n++) {
    const record = await journal.get(`key ${n}`);
    if (record?.finding.answers.query?.result["n"] !== n) numbers.push(n);
  }
  return numbers;
}

test("writes pending records when it closes", async () => {
  const folder = await journalFolder();
  const before = await opened({ folder });
  const put = before.put("key", complete());
  await before.closeNow();
  await put;
  const after = await opened({ folder });
  expect(await after.get("key")).toMatchObject({ finding: complete().finding });
});

test("finds every record when many share a chain", async () => {
  const journal = await opened({ folder: await journalFolder(), ...small });
  await putMany(journal, 0, 3000);
  expect(await wrong(journal, 0, 3000)).toEqual([]);
});

test("finds every record after several reopenings", async () => {
  const folder = await journalFolder();
  for (let session = 0; session < 4; session++) {
    const journal = await opened({ folder, ...small });
    await putMany(journal, session * 333, (session + 1) * 333);
    await journal.closeNow();
  }
  const journal = await opened({ folder, ...small });
  expect(await wrong(journal, 0, 4 * 333)).toEqual([]);
});

test("finds a record in the turn in which it is stored", async () => {
  const journal = await opened({ folder: await journalFolder(), ...small });
  const put = Array.from({ length: 200 }, (_, n) => journal.put(`key ${n}`, complete({ n })));
  expect(await wrong(journal, 0, 200)).toEqual([]);
  await Promise.all(put);
});

test("distinguishes keys with the same hash", async () => {
  expect(textHash(one)).toBe(textHash(other));
  const folder = await journalFolder();
  const before = await opened({ folder });
  await before.put(one, complete({ n: 1 }));
  expect(await before.get(other)).toBeNull();
  await before.put(other, complete({ n: 2 }));
  await before.closeNow();
  const after = await opened({ folder });
  const found = [await after.get(one), await after.get(other)];
  expect(found.map((record) => record?.finding.answers.query?.result["n"])).toEqual([1, 2]);
});

test("replays an earlier session in order, with rows and requests", async () => {
  const folder = await journalFolder();
  const before = await opened({ folder });
  const origin = { row: 7, outcomes: ["429", "200"] };
  await before.put("query ip 192.0.2.1", { ...complete(), origin, drift: ["intent=odd"] });
  await before.put("query ip 192.0.2.2", {
    ...failed("timeout"),
    origin: { row: null, outcomes: [] },
  });
  await before.closeNow();
  const replayed: unknown[] = [];
  const onReplay = (key: string, { origin, drift }: LookupRecord): void =>
    void replayed.push([key, origin, drift]);
  await opened({ folder, onReplay });
  expect(replayed).toEqual([
    ["query ip 192.0.2.1", origin, ["intent=odd"]],
    ["query ip 192.0.2.2", { row: null, outcomes: [] }, []],
  ]);
});

test("its folder is private to the owner", async () => {
  const folder = await journalFolder();
  await opened({ folder });
  expect((await stat(folder)).mode & 0o077).toBe(0);
});

test("rejects calls after close, because its file descriptor may be reused", async () => {
  const journal = await opened({ folder: await journalFolder() });
  await journal.put("key", complete());
  await Promise.all([journal.close(), journal.close()]);
  const closed = { code: "journal_closed" };
  await expect(journal.put("key", complete())).rejects.toMatchObject(closed);
  await expect(Promise.resolve(journal.get("key"))).rejects.toMatchObject(closed);
  await expect(journal.sync()).rejects.toMatchObject(closed);
});

test("a damaged record is missing and can be stored again", async () => {
  const folder = await journalFolder();
  const before = await opened({ folder });
  await before.put("key", complete({ text: "intact" }));
  await before.put("other", complete({ n: 1 }));
  await before.closeNow();
  const path = join(folder, "records");
  const bytes = await readFile(path);
  bytes.write("X", bytes.indexOf("intact"));
  await writeFile(path, bytes);
  const after = await opened({ folder });
  expect(await after.get("key")).toBeNull();
  expect((await after.get("other"))?.finding.answers.query?.result["n"]).toBe(1);
  await after.put("key", complete({ n: 2 }));
  expect((await after.get("key"))?.finding.answers.query?.result["n"]).toBe(2);
});

test.each([0, 10, 99])(
  "a damaged record %d affects no other record in its chain",
  async (damaged) => {
    const folder = await journalFolder();
    const before = await opened({ folder, chains: 2 });
    await putMany(before, 0, 100);
    await before.closeNow();
    const path = join(folder, "records");
    const bytes = await readFile(path);
    bytes.write("K", bytes.indexOf(`key ${damaged}"`));
    await writeFile(path, bytes);
    for (let session = 0; session < 2; session++) {
      const after = await opened({ folder, chains: 2 });
      expect(await wrong(after, 0, 100)).toEqual([damaged]);
      await after.closeNow();
    }
  },
);

test("a file in place of the folder is reported", async () => {
  const folder = join(await temporaryFolder(), "journal");
  await writeFile(folder, "");
  await expect(openJournal({ folder })).rejects.toThrow(folder);
});
