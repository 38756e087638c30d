import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { statePath } from "../../../../src/jobs/enrich/state/checkpoint.js";
import { openStateFolder } from "../../../../src/jobs/enrich/state/state-folder.js";
import { complete } from "../../../client/lookup/attempts.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import type { Checkpoint } from "../../../../src/jobs/enrich/state/checkpoint.js";

const start = { resume: false, restart: false };
const resume = { resume: true, restart: false };
const restart = { resume: false, restart: true };

describe("openStateFolder", () => {
  it("refuses an interrupted run and names both flags", async () => {
    const output = await interrupted();
    await expect(openStateFolder(output, start)).rejects.toMatchObject({
      code: "state_exists",
      hint: expect.stringMatching(/--resume.*--restart/) as string,
    });
  });

  it("returns the checkpoint on resume", async () => {
    const state = await openStateFolder(await interrupted(), resume);
    expect(state.checkpoint).toMatchObject({ runId: "r1" });
    state.release();
  });

  it("starts if there is nothing to resume", async () => {
    const state = await openStateFolder(join(await temporaryFolder(), "out.csv"), resume);
    expect(state.checkpoint).toBeNull();
    state.release();
  });

  it("starts after a run that was killed during cleanup, and completes the cleanup", async () => {
    const output = await interrupted();
    await rename(statePath(output), `${statePath(output)}.done`);
    const state = await openStateFolder(output, start);
    expect(state.checkpoint).toBeNull();
    expect(existsSync(`${statePath(output)}.done`)).toBe(false);
    await state.remove();
    expect(await readdir(dirname(output))).toEqual([]);
  });

  it("starts over with --restart", async () => {
    const output = await interrupted();
    const state = await openStateFolder(output, restart);
    expect(state.checkpoint).toBeNull();
    state.release();
    await (await openStateFolder(output, start)).remove();
  });

  it("admits one run per output, also on resume", async () => {
    const output = await interrupted();
    const first = await openStateFolder(output, resume);
    await expect(openStateFolder(output, resume)).rejects.toMatchObject({ code: "output_locked" });
    await expect(openStateFolder(output, restart)).rejects.toMatchObject({ code: "output_locked" });
    first.release();
  });

  it("is accessible only to its owner", async () => {
    const output = join(await temporaryFolder(), "out.csv");
    const state = await openStateFolder(output, start);
    await state.save(aCheckpoint());
    expect((await stat(statePath(output))).mode & 0o077).toBe(0);
    expect((await stat(join(statePath(output), "run.db"))).mode & 0o077).toBe(0);
    await state.remove();
    expect(existsSync(statePath(output))).toBe(false);
  });

  it("refuses the state of another version of repute", async () => {
    const output = await interrupted();
    const database = new DatabaseSync(join(statePath(output), "run.db"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    await expect(openStateFolder(output, resume)).rejects.toMatchObject({ code: "state_version" });
  });

  it("names the process that has it, and since when", async () => {
    const output = await interrupted();
    const first = await openStateFolder(output, resume);
    await expect(openStateFolder(output, resume)).rejects.toMatchObject({
      message: `another run (process ${process.pid}) is writing this output`,
      hint: expect.stringMatching(/^it has been at work since \d{4}-.*Z: wait for it/) as string,
    });
    first.release();
    await (await openStateFolder(output, resume)).remove();
  });

  it.each([
    ["is cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ["is no database", () => Buffer.from("no database ".repeat(1000))],
    ["has another checkpoint", (bytes: Buffer) => replaced(bytes, '"runId":"r1"', '"runId":"r2"')],
  ])("stops at a database that %s, and --restart starts over", async (_, damage) => {
    const output = await interrupted();
    const path = join(statePath(output), "run.db");
    await writeFile(path, damage(await readFile(path)));
    await expect(openStateFolder(output, resume)).rejects.toMatchObject({
      code: "state_damaged",
      message: expect.stringContaining(`${path} is damaged: `) as string,
      hint: expect.stringContaining("--restart: it keeps the answers that can be read") as string,
    });
    const state = await openStateFolder(output, restart);
    expect(state.checkpoint).toBeNull();
    await state.remove();
  });
});

describe("--restart over a damaged database", () => {
  it.each([
    ["an answer was changed", (bytes: Buffer) => replaced(bytes, '"n":700,', '"n":701,')],
    ["a page is lost", (bytes: Buffer) => bytes.fill(0, 40 * 4096, 41 * 4096)],
    ["it is cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length - 20 * 4096)],
  ])("keeps the answers that can be read: %s", async (_, damage) => {
    const output = await interrupted(2_000);
    const path = join(statePath(output), "run.db");
    await writeFile(path, damage(await readFile(path)));
    const notices: string[] = [];
    const onNotice = (message: string): void => void notices.push(message);
    const state = await openStateFolder(output, { ...restart, onNotice });
    const { answers } = state.database;
    expect(answers).toBeGreaterThan(1_500);
    expect(answers).toBeLessThan(2_000);
    expect(notices[0]).toContain(`was damaged; ${answers.toLocaleString("en")} answers could be`);
    for (const _answer of state.database.openJournal({}).replay(answers));
    expect(state.database.read("service")).toEqual({ name: "https://intel.example" });
    await state.remove();
  });

  it("keeps none of a database that is whole", async () => {
    const output = await interrupted(20);
    const state = await openStateFolder(output, restart);
    expect(state.database.answers).toBe(0);
    await state.remove();
  });
});

function replaced(bytes: Buffer, before: string, after: string): Buffer {
  bytes.write(after, bytes.indexOf(before));
  return bytes;
}

describe("a state folder's name that is already in use", () => {
  it.each(["notes.txt", "input-1/diary.txt", "run.db/x"])(
    "keeps a folder with %s unchanged",
    async (name) => {
      const output = await interrupted();
      const path = join(statePath(output), name);
      if (name.startsWith("run.db")) await rm(dirname(path));
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, "mine");
      const before = await readdir(statePath(output), { recursive: true });
      for (const flags of [start, resume, restart]) {
        await expect(openStateFolder(output, flags)).rejects.toMatchObject({
          code: "state_folder_foreign",
          message: expect.stringContaining(name) as string,
        });
      }
      expect(await readdir(statePath(output), { recursive: true })).toEqual(before);
    },
  );

  it("keeps what a symbolic link leads to", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "target"));
    await symlink("target", statePath(join(folder, "out.csv")));
    await expect(openStateFolder(join(folder, "out.csv"), restart)).rejects.toMatchObject({
      code: "state_folder_foreign",
      message: expect.stringContaining("is a symbolic link") as string,
    });
  });

  it("keeps a file", async () => {
    const file = join(await temporaryFolder(), "other.csv");
    await writeFile(statePath(file), "mine");
    await expect(openStateFolder(file, restart)).rejects.toMatchObject({
      code: "state_folder_foreign",
      message: expect.stringContaining("is not a folder") as string,
    });
    expect(await readFile(statePath(file), "utf8")).toBe("mine");
  });

  it("keeps a folder that has the name used for removal", async () => {
    const output = join(await temporaryFolder(), "out.csv");
    await mkdir(`${statePath(output)}.done`);
    await writeFile(join(`${statePath(output)}.done`, "notes.txt"), "mine");
    await expect(openStateFolder(output, start)).rejects.toMatchObject({
      code: "state_folder_foreign",
    });
    expect(existsSync(join(`${statePath(output)}.done`, "notes.txt"))).toBe(true);
  });

  it("keeps foreign files added during the run", async () => {
    const output = join(await temporaryFolder(), "out.csv");
    const state = await openStateFolder(output, start);
    await state.save(aCheckpoint());
    await writeFile(join(state.path, "rows.part"), "");
    await mkdir(join(state.path, "input-1"));
    await writeFile(join(state.path, "input-1", "input.tsv"), "");
    await writeFile(join(state.path, "input-1", "notes.txt"), "mine");
    await state.remove();
    expect(await readdir(state.path, { recursive: true })).toEqual([
      "input-1",
      "input-1/notes.txt",
    ]);
  });
});

async function interrupted(answers = 0): Promise<string> {
  const output = join(await temporaryFolder(), "out.csv");
  const state = await openStateFolder(output, start);
  const journal = state.database.openJournal({});
  for (let n = 0; n < answers; n++) {
    await journal.put(`query ip ${n}`, complete({ n, text: "x".repeat(200) }));
  }
  await state.save(aCheckpoint());
  await journal.close();
  state.release();
  return output;
}

function aCheckpoint(): Checkpoint {
  const fingerprint = { options: { "intel-url": "https://intel.example" } };
  const some = { runId: "r1", tally: {}, fingerprint, answers: { last: 0, earlier: 0 } };
  return some as unknown as Checkpoint;
}
