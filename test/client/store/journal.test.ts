import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Journal } from "../../../src/client/store/journal.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { attempt, complete, failed } from "../lookup/findings.js";
import { openJournal } from "./journals.js";

/** Few enough that each chain of the index has many answers. */
const small = { chains: 64 };

function putMany(journal: Journal, from: number, to: number): void {
  for (let n = from; n < to; n++) journal.put(`query key ${n}`, attempt(complete({ n })));
}

/** Numbers of findings that differ from what was stored. */
function wrong(journal: Journal, from: number, to: number): readonly number[] {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  const numberIn = (n: number): unknown =>
    journal.get(`query key ${n}`)?.finding.answers.query?.result["n"];
  return numbers.filter((n) => numberIn(n) !== n);
}

test("finds every answer after several reopenings, when many share a chain", async () => {
  const folder = await temporaryFolder();
  const lost: number[] = [];
  for (let session = 0; session < 4; session++) {
    const { journal, close } = await openJournal(folder, small);
    for (let from = session * 333; from < (session + 1) * 333; from += 3) {
      putMany(journal, from, from + 3);
      journal.flush();
      if (from < 30) lost.push(...wrong(journal, 0, from + 3));
    }
    close();
  }
  const { journal } = await openJournal(folder, small);
  lost.push(...wrong(journal, 0, 4 * 333));
  expect(lost).toEqual([]);
});

test("replays an earlier session in order", async () => {
  const folder = await temporaryFolder();
  const { journal, close } = await openJournal(folder);
  const origin = { row: 7, outcomes: ["429", "200"] };
  const first = { ...attempt(complete()), origin, drift: ["intent=odd"] };
  journal.put("query ip 192.0.2.1", first);
  journal.put("query ip 192.0.2.2", { ...attempt(failed("timeout")), origin });
  close();
  const { journal: after, replayed } = await openJournal(folder);
  expect(replayed).toEqual(["query ip 192.0.2.1", "query ip 192.0.2.2"]);
  expect(after.get("query ip 192.0.2.1")).toMatchObject({ origin, drift: ["intent=odd"] });
});

test("uses the answers of an earlier run that it may use, as if no row had asked", async () => {
  const folder = await temporaryFolder();
  const before = await openJournal(folder);
  const origin = { row: 7, outcomes: ["200"] };
  for (const key of ["query a", "query b"]) {
    before.journal.put(key, { ...attempt(complete()), origin });
  }
  before.close();
  const isUsed = ({ key }: { readonly key: string }) => key === "query a";
  const { journal } = await openJournal(folder, { taken: { last: 2, isUsed } });
  const found = journal.get("query a");
  expect([found?.finding, found?.origin]).toEqual([complete(), undefined]);
  expect(journal.get("query b")).toBeNull();
  journal.put("query b", { ...attempt(complete()), origin });
  expect(journal.get("query b")?.origin).toEqual(origin);
});

test("takes nothing after it was closed", async () => {
  const { journal, close } = await openJournal(await temporaryFolder());
  journal.put("query key", attempt(complete()));
  close();
  for (const use of [
    () => journal.get("query key"),
    () => journal.put("query key", attempt(complete())),
    () => journal.flush(),
  ]) {
    expect(use).toThrow("is closed");
  }
});

test("a full disk fails what follows and keeps earlier answers", async () => {
  const folder = await temporaryFolder();
  const { journal, fill, close } = await openJournal(folder);
  journal.put("query one", attempt(complete({ n: 1 })));
  journal.flush();
  fill();
  const large = attempt(complete({ text: "x".repeat(100_000) }));
  expect(() => journal.put("query two", large)).toThrow(/full/);
  expect(() => journal.flush()).toThrow(/full/);
  expect(() => journal.put("query four", attempt(complete()))).toThrow(/full/);
  expect(close).toThrow(/full/);
  const { journal: after } = await openJournal(folder);
  expect(after.get("query one")?.finding.answers.query?.result["n"]).toBe(1);
  expect(after.get("query two")).toBeNull();
});

const dist = fileURLToPath(new URL("../../../dist/client/store/", import.meta.url));

/** Stores findings without end, and says which a kill may not lose any more. */
const putForEver = `
  const { SqliteFile } = await import(process.argv[1] + "sqlite-file.js");
  const { Journal } = await import(process.argv[1] + "journal.js");
  const [, , path, from, text] = process.argv;
  const journal = new Journal(await SqliteFile.open(path, "run"), { fault: String, chains: 64 });
  for (const _ of journal.replay());
  const record = JSON.parse(text);
  for (let n = Number(from); ; n++) {
    const answers = { query: { result: { n } } };
    journal.put("query key " + n, { ...record, finding: { ...record.finding, answers } });
    if (n % 300 === 0) await new Promise((resolve) => setTimeout(resolve, 60));
    else continue;
    process.stdout.write(n + "\\n");
  }
`;

/** Runs it until `count` lines are printed, then kills it. Returns the last number. */
async function putUntilKilled(folder: string, from: number, count: number): Promise<number> {
  const path = join(folder, "journal.db");
  const args = ["--input-type=module", "-e", putForEver, dist, path, `${from}`];
  const child = spawn(process.execPath, [...args, JSON.stringify(attempt(complete()))], {
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
  expect(wrong(journal, 1, last + 1)).toEqual([]);
});
