import { existsSync } from "node:fs";
import {
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rmdir,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, it } from "vitest";
import { openState } from "../../../../src/jobs/enrich/state/open-state.js";
import type { Checkpoint, RunState } from "../../../../src/jobs/enrich/state/run-state.js";
import { statePath } from "../../../../src/jobs/enrich/state/state-folder.js";
import { attempt, complete } from "../../../client/lookup/findings.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const start = { resume: false, restart: false };
const resume = { resume: true, restart: false };
const restart = { resume: false, restart: true };

describe("openState", () => {
  it("refuses an interrupted run and names both flags", async () => {
    const output = await interrupted();
    await expect(openState(output, start)).rejects.toMatchObject({
      code: "state_exists",
      hint: expect.stringMatching(/--resume.*--restart/) as string,
    });
  });

  it("finds a run that was killed as its last file was removed", async () => {
    const output = await interrupted();
    await rename(join(statePath(output), "run.db"), `${statePath(output)}.finished`);
    await rmdir(statePath(output));
    const state = await openState(output, resume);
    expect(state.checkpoint).toMatchObject({ runId: "r1" });
    await state.remove();
    expect(await readdir(dirname(output))).toEqual([]);
  });

  it("starts over with --restart, without the answers of a sound database", async () => {
    const output = await interrupted(20);
    const state = await openState(output, restart);
    expect([state.checkpoint, state.journal.last]).toEqual([null, 0]);
    state.release();
    await (await openState(output, start)).remove();
  });

  it("starts over as a whole or not at all", async () => {
    const output = await interrupted(20);
    const database = new DatabaseSync(join(statePath(output), "run.db"));
    database.exec("CREATE TRIGGER t BEFORE DELETE ON answers BEGIN SELECT raise(ABORT, ''); END");
    database.close();
    await expect(openState(output, restart)).rejects.toMatchObject({ code: "state_damaged" });
    const state = await openState(output, resume);
    expect([state.checkpoint?.runId, state.journal.last]).toEqual(["r1", 20]);
    state.release();
  });

  it("is accessible only to its owner", async () => {
    const output = join(await temporaryFolder(), "out.csv");
    const state = await openState(output, start);
    await state.save(aCheckpoint());
    expect((await stat(statePath(output))).mode & 0o077).toBe(0);
    expect((await stat(join(statePath(output), "run.db"))).mode & 0o077).toBe(0);
    await state.remove();
    expect(existsSync(statePath(output))).toBe(false);
  });

  it.each<[what: string, make: (path: string) => Promise<void>]>([
    ["a symbolic link", (path) => symlink(".", path)],
    ["not a folder", (path) => writeFile(path, "")],
  ])("refuses %s", async (what, make) => {
    const output = join(await temporaryFolder(), "out.csv");
    await make(statePath(output));
    const refused = { code: "state_no_folder", message: `${statePath(output)} is ${what}` };
    await expect(openState(output, resume)).rejects.toMatchObject(refused);
    expect(await readdir(dirname(output))).toEqual(["out.csv.state"]);
  });

  it("belongs to one process", async () => {
    const output = await interrupted();
    const first = await openState(output, resume);
    await expect(openState(output, restart)).rejects.toMatchObject({ code: "output_locked" });
    await expect(openState(output, resume)).rejects.toMatchObject({
      message: "another run is writing this output",
      hint: "wait for it, or write elsewhere",
    });
    first.release();
    await (await openState(output, resume)).remove();
  });

  const damaged = {
    code: "state_damaged",
    message: expect.stringMatching(/^\/.*\/out\.csv\.state\/run\.db is damaged: /),
    hint: expect.stringContaining("--restart: it keeps the answers that can be read"),
  };

  it.each([
    ["is cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2), damaged],
    ["is no database", () => Buffer.from("no database ".repeat(1000)), damaged],
    ["has another checkpoint", (all) => replaced(all, '"runId":"r1"', '"runId":"r2"'), damaged],
    [
      "another version of repute wrote",
      (bytes: Buffer) => bytes.fill(9, 60, 64),
      { code: "state_version", hint: expect.stringContaining("--restart") },
    ],
  ])("stops at a database that %s, and --restart starts over", async (_, damage, fault) => {
    const output = await interrupted();
    const path = join(statePath(output), "run.db");
    await writeFile(path, damage(await readFile(path)));
    await expect(openState(output, resume)).rejects.toMatchObject(fault);
    const state = await openState(output, restart);
    expect(state.checkpoint).toBeNull();
    await state.remove();
  });
});

describe("--restart over a damaged database", () => {
  it.each([
    ["an answer was changed", (bytes: Buffer) => replaced(bytes, '"n":700,', '"n":701,')],
    ["a page is lost", (bytes: Buffer) => bytes.fill(0, 20 * 8192, 21 * 8192)],
    ["it is cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length - 10 * 8192)],
  ])("keeps the answers that can be read: %s", async (_, damage) => {
    const output = await interrupted(2_000);
    const path = join(statePath(output), "run.db");
    await writeFile(path, damage(await readFile(path)));
    // What a run finds damaged is for the next one to keep.
    const reading = async () => {
      const state = await openState(output, resume);
      try {
        for (const _answer of state.journal.replay());
      } finally {
        state.release();
      }
    };
    await expect(reading()).rejects.toMatchObject({ code: "state_damaged" });
    const notices: string[] = [];
    const onNotice = (message: string): void => void notices.push(message);
    const state = await openState(output, { ...restart, onNotice });
    const { journal } = state;
    const answers = journal.last;
    expect(answers).toBeGreaterThan(1_500);
    expect(answers).toBeLessThan(2_000);
    expect(notices[0]).toContain(`was damaged; ${answers.toLocaleString("en")} answers could be`);
    for (const _answer of journal.replay());
    expect(state.isOf("https://intel.example")).toBe(true);
    await state.remove();
  });
});

describe("a killed run whose log is damaged", () => {
  const frameBytes = 24 + 8192;

  /** What a kill leaves of 600 answers, whose log was changed since; and what opening it tells. */
  async function opened(damage: (log: Buffer) => Buffer) {
    const output = join(await temporaryFolder(), "out.csv");
    const killed = await openState(output, start);
    putAnswers(killed, 600);
    await killed.save(aCheckpoint());
    const copy = join(await temporaryFolder(), "out.csv");
    await cp(killed.path, statePath(copy), { recursive: true });
    await killed.remove();
    const log = join(statePath(copy), "run.db-wal");
    await writeFile(log, damage(await readFile(log)));
    const warnings: string[] = [];
    const state = await openState(copy, {
      ...resume,
      onWarning: (message) => void warnings.push(message),
    });
    const { last: answers } = state.journal;
    await state.remove();
    return { answers, warnings, log };
  }

  /** Where the last transaction before a byte ends; 0 for none. */
  function lastCommit(log: Buffer, at: number): number {
    let end = 0;
    for (let frame = 32; frame + frameBytes <= at; frame += frameBytes) {
      if (log.readUInt32BE(frame + 4) > 0) end = frame + frameBytes;
    }
    return end;
  }

  it.each([
    ["frame", 20 * frameBytes],
    ["header", 0],
  ])("says from which byte on its answers are lost: a %s", async (_, from) => {
    const at = from === 0 ? 20 : 32 + from + 100;
    let place = 0;
    const { answers, warnings, log } = await opened((bytes) => {
      place = lastCommit(bytes, at);
      bytes[at]! ^= 1;
      return bytes;
    });
    expect(answers).toBeLessThan(600);
    expect(warnings).toEqual([
      `${log} is damaged after byte ${place}: the answers stored after it are asked again`,
    ]);
  });

  it.each([
    ["whole", (log: Buffer) => log, 600],
    ["cut off", (log: Buffer) => log.subarray(0, log.length - 20 * frameBytes - 9), 1],
    ["followed by an earlier one", (log: Buffer) => Buffer.concat([log, earlier(log)]), 600],
  ])("says nothing of a log that is %s", async (_, damage, least) => {
    const { answers, warnings } = await opened(damage);
    expect(answers).toBeGreaterThanOrEqual(least);
    expect(warnings).toEqual([]);
  });

  /** Frames with other salts. */
  function earlier(log: Buffer): Buffer {
    const frames = Buffer.from(log.subarray(32, 32 + 3 * frameBytes));
    for (let at = 0; at < frames.length; at += frameBytes) frames[at + 8]! ^= 1;
    return frames;
  }
});

function replaced(bytes: Buffer, before: string, after: string): Buffer {
  bytes.write(after, bytes.indexOf(before));
  return bytes;
}

describe("a state folder with foreign files", () => {
  it("stays, without what the run wrote", async () => {
    const output = join(await temporaryFolder(), "out.csv");
    const state = await openState(output, start);
    await state.save(aCheckpoint());
    await writeFile(join(state.path, "rows.part"), "");
    await writeFile(join(state.path, "input-1.tsv"), "");
    await mkdir(join(state.path, "input-1"));
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
  const state = await openState(output, start);
  putAnswers(state, answers);
  await state.save(aCheckpoint());
  state.release();
  return output;
}

function putAnswers({ journal }: RunState, answers: number): void {
  for (let n = 0; n < answers; n++) {
    journal.put(`query ip ${n}`, attempt(complete({ n, text: "x".repeat(200) })));
  }
}

function aCheckpoint(): Checkpoint {
  const fingerprint = { options: { "intel-url": "https://intel.example" } };
  const some = { runId: "r1", tally: {}, fingerprint, answers: { last: 0, earlier: 0 } };
  return some as unknown as Checkpoint;
}
