import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { openJournal } from "../../../../src/client/store/journal/journal.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { complete } from "../../lookup/attempts.js";

/** Stores findings concurrently without end and prints the number of each stored one. */
const putForEver = `
  const { openJournal } = await import(process.argv[1]);
  const { writeSync } = await import("node:fs");
  const journal = await openJournal({ folder: process.argv[2], chains: 256 });
  const record = JSON.parse(process.argv[4]);
  let next = Number(process.argv[3]);
  const put = async () => {
    for (;;) {
      const n = next++;
      await journal.put("key " + n, { ...record, finding: { ...record.finding, answers: { query: { result: { n } } } } });
      writeSync(1, n + "\\n");
    }
  };
  await Promise.all(Array.from({ length: 50 }, put));
`;

/** Runs it until `count` findings are stored, then kills it. Returns the printed numbers. */
async function putUntilKilled(folder: string, from: number, count: number): Promise<number[]> {
  const journal = pathToFileURL(
    join(import.meta.dirname, "../../../../dist/client/store/journal/journal.js"),
  ).href;
  const child = spawn(
    process.execPath,
    // With `-e`, the arguments follow the executable directly.
    [
      "--input-type=module",
      "-e",
      putForEver,
      journal,
      folder,
      `${from}`,
      JSON.stringify(complete()),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exited = once(child, "exit");
  const numbers: number[] = [];
  for await (const line of createInterface(child.stdout)) {
    numbers.push(Number(line));
    if (numbers.length === count) child.kill("SIGKILL");
  }
  await exited;
  return numbers;
}

test("stored records survive repeated kills", async () => {
  const folder = join(await temporaryFolder(), "journal");
  const put: number[] = [];
  for (const count of [1, 40, 700, 333, 2000]) {
    put.push(...(await putUntilKilled(folder, put.length * 10, count)));
  }
  const journal = await openJournal({ folder });
  const lost = [];
  for (const n of put)
    if ((await journal.get(`key ${n}`))?.finding.answers.query?.result["n"] !== n) lost.push(n);
  await journal.close();
  expect(lost).toEqual([]);
});
