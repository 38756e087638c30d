import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { sealJson } from "../../../../src/core/files/json-file.js";
import { openStateFolder } from "../../../../src/jobs/enrich/state/state-folder.js";
import { statePath } from "../../../../src/jobs/enrich/state/state-files.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import {
  type Checkpoint,
  checkpointVersion,
} from "../../../../src/jobs/enrich/state/checkpoint.js";

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
    await state.release();
  });

  it("starts if there is nothing to resume", async () => {
    const state = await openStateFolder(join(await temporaryFolder(), "out.csv"), resume);
    expect(state.checkpoint).toBeNull();
    await state.release();
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
    expect(existsSync(join(statePath(output), "checkpoint.json"))).toBe(false);
    await state.release();
  });

  it("admits one run per output, also on resume", async () => {
    const output = await interrupted();
    const first = await openStateFolder(output, resume);
    await expect(openStateFolder(output, resume)).rejects.toMatchObject({ code: "output_locked" });
    await expect(openStateFolder(output, restart)).rejects.toMatchObject({ code: "output_locked" });
    await first.release();
  });

  it("is accessible only to its owner", async () => {
    const output = join(await temporaryFolder(), "out.csv");
    const state = await openStateFolder(output, start);
    await state.save(aCheckpoint());
    expect((await stat(statePath(output))).mode & 0o077).toBe(0);
    expect((await stat(join(statePath(output), "checkpoint.json"))).mode & 0o077).toBe(0);
    await state.remove();
    expect(existsSync(statePath(output))).toBe(false);
  });

  it("refuses a checkpoint of a later version", async () => {
    const output = await interrupted(sealJson({ ...aCheckpoint(), version: 99 }));
    await expect(openStateFolder(output, resume)).rejects.toMatchObject({
      code: "checkpoint_version",
    });
  });

  it("detects every changed byte and every truncation of a checkpoint", async () => {
    const text = `${sealJson(aCheckpoint())}\n`;
    const output = await interrupted(text);
    const path = join(statePath(output), "checkpoint.json");
    const damaged = { code: "checkpoint_damaged", hint: "start over with --restart" };
    for (let at = 0; at < text.length - 1; at++) {
      const flipped = Buffer.from(text);
      flipped[at]! ^= 1 + (at % 255);
      await writeFile(path, flipped);
      await expect(openStateFolder(output, resume)).rejects.toMatchObject(damaged);
      await writeFile(path, text.slice(0, at));
      await expect(openStateFolder(output, resume)).rejects.toMatchObject(damaged);
    }
  });

  it("detects a missing checkpoint if the journal has lookups", async () => {
    const output = await interrupted();
    await rm(join(statePath(output), "checkpoint.json"));
    await mkdir(join(statePath(output), "journal"));
    const records = join(statePath(output), "journal", "records");
    await writeFile(records, "x".repeat(33));
    await expect(openStateFolder(output, resume)).rejects.toMatchObject({
      code: "checkpoint_missing",
      message: expect.stringContaining("checkpoint.json is missing") as string,
      hint: "start over with --restart",
    });
    await writeFile(records, "x".repeat(32));
    await (await openStateFolder(output, resume)).release();
  });
});

describe("a state folder's name that is already in use", () => {
  it.each(["notes.txt", "journal/diary.txt", "checkpoint.json/x"])(
    "keeps a folder with %s unchanged",
    async (name) => {
      const output = await interrupted();
      const path = join(statePath(output), name);
      if (name.startsWith("checkpoint")) await rm(dirname(path));
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
    await mkdir(join(state.path, "journal"));
    await writeFile(join(state.path, "journal", "records"), "");
    await mkdir(join(state.path, "parts"));
    await writeFile(join(state.path, "parts", "notes.txt"), "mine");
    await state.remove();
    expect(await readdir(state.path, { recursive: true })).toEqual(["parts", "parts/notes.txt"]);
  });
});

async function interrupted(text = sealJson(aCheckpoint())): Promise<string> {
  const output = join(await temporaryFolder(), "out.csv");
  await mkdir(statePath(output));
  await writeFile(join(statePath(output), "checkpoint.json"), text);
  return output;
}

function aCheckpoint(): Checkpoint {
  return { version: checkpointVersion, runId: "r1", tally: {} } as unknown as Checkpoint;
}
