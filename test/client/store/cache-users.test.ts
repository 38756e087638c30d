import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("cache-user.mjs", import.meta.url));
const keys = 400;
/** Path of the file in a cache folder. */
const path = join("answers", "answers.db");

/** Result of a process: keys found before and after it put answers. */
interface Used {
  readonly before: { readonly found: number; readonly wrong: number };
  readonly after: { readonly found: number; readonly wrong: number };
  readonly warnings: readonly string[];
}

/** Rejects if the process does not exit by itself, or writes to stderr. */
async function use(folder: string, from: number, put: number, syncEvery = 50): Promise<Used> {
  const job = JSON.stringify({ folder, keys, from, put, syncEvery });
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, job]);
  if (stderr !== "") throw new Error(stderr);
  return JSON.parse(stdout) as Used;
}

describe("several processes that keep writing", () => {
  test("each find their own answers, lose nothing, and leave a whole file", async () => {
    const folder = join(await temporaryFolder(), "cache");
    const from = Array.from({ length: 4 }, (_, n) => n * 68);
    const users = from.map((n, at) => use(folder, n, 160, at % 2 === 0 ? 10 : 50));
    for (const used of await Promise.all(users)) {
      expect(used).toMatchObject({ before: { wrong: 0 }, after: { wrong: 0 }, warnings: [] });
      expect(used.after.found).toBeGreaterThanOrEqual(160);
    }
    const database = new DatabaseSync(join(folder, path), { readOnly: true });
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
    const last = await use(folder, 0, 0);
    expect(last.before).toEqual({ found: 3 * 68 + 160, wrong: 0 });
  });

  test("continue when one of them is killed while writing", async () => {
    const folder = join(await temporaryFolder(), "cache");
    await use(folder, 0, 20);
    const write = `
      const { DatabaseSync } = require("@photostructure/sqlite");
      const database = new DatabaseSync(process.argv[1]);
      database.exec("BEGIN IMMEDIATE; DELETE FROM answers;");
      console.log("deleted");
      setInterval(() => database, 1000);`;
    const killed = spawn(process.execPath, ["-e", write, join(folder, path)]);
    await once(killed.stdout, "data");
    killed.kill("SIGKILL");
    await once(killed, "exit");
    const used = await use(folder, 20, 20);
    expect(used).toMatchObject({ before: { found: 20 }, after: { found: 40 }, warnings: [] });
  });
});
