import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Journal } from "../../../src/client/store/journal.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { complete, failed } from "../lookup/attempts.js";
import { openJournal } from "./journals.js";

/** Few enough that each chain of the index has many answers. */
const small = { chains: 64 };

async function putMany(journal: Journal, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n++) await journal.put(`query key ${n}`, complete({ n }));
}

/** Numbers of findings that differ from what was stored. */
async function wrong(journal: Journal, from: number, to: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let n = from; n < to; n++) {
    const record = await journal.get(`query key ${n}`);
    if (record?.finding.answers.query?.result["n"] !== n) numbers.push(n);
  }
  return numbers;
}

test("finds every answer after several reopenings, when many share a chain", async () => {
  const folder = await temporaryFolder();
  for (let session = 0; session < 4; session++) {
    const { journal, closeNow } = await openJournal(folder, small);
    await putMany(journal, session * 333, (session + 1) * 333);
    await closeNow();
  }
  const { journal } = await openJournal(folder, small);
  expect(await wrong(journal, 0, 4 * 333)).toEqual([]);
});

test("replays an earlier session in order", async () => {
  const folder = await temporaryFolder();
  const { journal, closeNow } = await openJournal(folder);
  const origin = { row: 7, outcomes: ["429", "200"] };
  const first = { ...complete(), origin, drift: ["intent=odd"] };
  await journal.put("query ip 192.0.2.1", first);
  await journal.put("query ip 192.0.2.2", { ...failed("timeout"), origin });
  await closeNow();
  const { journal: after, replayed } = await openJournal(folder);
  expect(replayed).toEqual(["query ip 192.0.2.1", "query ip 192.0.2.2"]);
  expect(await after.get("query ip 192.0.2.1")).toMatchObject({ origin, drift: ["intent=odd"] });
});

test("uses the answers of an earlier run that it may use, as if no row had asked", async () => {
  const folder = await temporaryFolder();
  const before = await openJournal(folder);
  const origin = { row: 7, outcomes: ["200"] };
  for (const key of ["query a", "query b"]) {
    await before.journal.put(key, { ...complete(), origin });
  }
  await before.closeNow();
  const isUsed = ({ key }: { readonly key: string }) => key === "query a";
  const { journal } = await openJournal(folder, { taken: { last: 2, isUsed } });
  const found = await journal.get("query a");
  expect([found?.finding, found?.origin]).toEqual([complete().finding, undefined]);
  expect(await journal.get("query b")).toBeNull();
  await journal.put("query b", { ...complete(), origin });
  expect((await journal.get("query b"))?.origin).toEqual(origin);
});

test("is private to the owner", async () => {
  const folder = await temporaryFolder();
  await openJournal(folder);
  expect((await stat(join(folder, "journal.db"))).mode & 0o077).toBe(0);
});

test("rejects calls after close", async () => {
  const { journal } = await openJournal(await temporaryFolder());
  await journal.put("query key", complete());
  await journal.close();
  const closed = { code: "journal_closed" };
  await expect(journal.put("query key", complete())).rejects.toMatchObject(closed);
  await expect(Promise.resolve(journal.get("query key"))).rejects.toMatchObject(closed);
  await expect(journal.sync()).rejects.toMatchObject(closed);
});

test("a damaged answer is noticed when the journal is opened", async () => {
  const folder = await temporaryFolder();
  const { journal, closeNow } = await openJournal(folder);
  await putMany(journal, 0, 20);
  await journal.put("query other", complete({ text: "intact" }));
  await closeNow();
  const path = join(folder, "journal.db");
  const bytes = await readFile(path);
  bytes.write("X", bytes.indexOf("intact"));
  await writeFile(path, bytes);
  await expect(openJournal(folder)).rejects.toThrow("answer 21 has a wrong checksum");
});

test("a full disk rejects what follows and keeps earlier answers", async () => {
  const folder = await temporaryFolder();
  const { journal, fill, closeNow } = await openJournal(folder);
  await journal.put("query one", complete({ n: 1 }));
  await journal.sync();
  fill();
  const long = complete({ text: "x".repeat(100_000) });
  await expect(journal.put("query two", long)).rejects.toThrow(/full/);
  await expect(journal.put("query four", complete())).rejects.toThrow(/full/);
  await expect(journal.sync()).rejects.toThrow(/full/);
  await closeNow();
  const { journal: after } = await openJournal(folder);
  expect((await after.get("query one"))?.finding.answers.query?.result["n"]).toBe(1);
  expect(await after.get("query two")).toBeNull();
});

const dist = fileURLToPath(new URL("../../../dist/client/store/", import.meta.url));

/** Stores findings without end, and says which a kill may not lose any more. */
const putForEver = `
  const { openStore } = await import(process.argv[1] + "database.js");
  const { Journal } = await import(process.argv[1] + "journal.js");
  const { answersSchema } = await import(process.argv[1] + "answer-table.js");
  const [, , path, from, text] = process.argv;
  const database = await openStore(path, { alone: true, version: 1, schema: answersSchema });
  const { last } = database.prepare("SELECT coalesce(max(n), 0) last FROM answers").get();
  const journal = new Journal(database, { path, fault: (error) => error, chains: 256 });
  for (const _ of journal.replay(last));
  const record = JSON.parse(text);
  for (let n = Number(from); ; n++) {
    const answers = { query: { result: { n } } };
    await journal.put("query key " + n, { ...record, finding: { ...record.finding, answers } });
    if (n % 300 === 0) await new Promise((resolve) => setTimeout(resolve, 60));
    else continue;
    process.stdout.write(n + "\\n");
  }
`;

/** Runs it until `count` lines are printed, then kills it. Returns the last number. */
async function putUntilKilled(folder: string, from: number, count: number): Promise<number> {
  const path = join(folder, "journal.db");
  const args = ["--input-type=module", "-e", putForEver, dist, path, `${from}`];
  const child = spawn(process.execPath, [...args, JSON.stringify(complete())], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let last = from;
  let lines = 0;
  for await (const line of createInterface(child.stdout)) {
    last = Number(line);
    if (++lines === count) child.kill("SIGKILL");
  }
  await exited;
  return last;
}

test("answers survive a kill 50 ms later", async () => {
  const folder = await temporaryFolder();
  let last = 0;
  for (const count of [1, 3, 8]) last = await putUntilKilled(folder, last + 1, count);
  const { journal } = await openJournal(folder);
  expect(last).toBeGreaterThan(2_000);
  expect(await wrong(journal, 1, last + 1)).toEqual([]);
});

test("waits no longer than 50 ms for other answers", async () => {
  const folder = await temporaryFolder();
  const { journal } = await openJournal(folder);
  const logSize = async () => (await stat(join(folder, "journal.db-wal"))).size;
  const before = await logSize();
  await journal.put("query key", complete());
  while ((await logSize()) === before) await delay(5);
  expect(await logSize()).toBeGreaterThan(before);
});
