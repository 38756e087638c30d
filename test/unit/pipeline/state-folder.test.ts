import { existsSync } from "node:fs";
import { mkdir, readdir, rename, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Checkpoint, checkpointVersion } from "../../../src/pipeline/checkpoint.js";
import { openStateFolder, statePath } from "../../../src/pipeline/state-folder.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const start = { resume: false, restart: false };
const resume = { resume: true, restart: false };
const restart = { resume: false, restart: true };

describe("openStateFolder", () => {
  it("refuses an interrupted run and names both ways on", async () => {
    const output = await interrupted();
    await expect(openStateFolder(output, start)).rejects.toMatchObject({
      code: "state_exists",
      hint: expect.stringMatching(/--resume.*--restart/) as string,
    });
  });

  it("gives the checkpoint back on resume", async () => {
    const state = await openStateFolder(await interrupted(), resume);
    expect(state.checkpoint).toMatchObject({ runId: "r1" });
    await state.release();
  });

  it("starts where there is nothing to resume", async () => {
    const state = await openStateFolder(join(await temporaryFolder(), "out.csv"), resume);
    expect(state.checkpoint).toBeNull();
    await state.release();
  });

  it("begins where a run was killed while it tidied up, and tidies up after it", async () => {
    const output = await interrupted();
    await rename(statePath(output), `${statePath(output)}.done`);
    const state = await openStateFolder(output, start);
    expect(state.checkpoint).toBeNull();
    expect(existsSync(`${statePath(output)}.done`)).toBe(false);
    await state.remove();
    expect(await readdir(dirname(output))).toEqual([]);
  });

  it("keeps on restart what counts against a quota", async () => {
    const output = await interrupted();
    await mkdir(join(statePath(output), "quota"));
    const state = await openStateFolder(output, restart);
    expect(existsSync(join(statePath(output), "quota"))).toBe(true);
    await state.release();
  });

  it("throws the earlier run away on restart", async () => {
    const output = await interrupted();
    const state = await openStateFolder(output, restart);
    expect(state.checkpoint).toBeNull();
    expect(existsSync(join(statePath(output), "checkpoint.json"))).toBe(false);
    await state.release();
  });

  it("keeps two runs from one output, also while they resume", async () => {
    const output = await interrupted();
    const first = await openStateFolder(output, resume);
    await expect(openStateFolder(output, resume)).rejects.toMatchObject({ code: "output_locked" });
    await expect(openStateFolder(output, restart)).rejects.toMatchObject({ code: "output_locked" });
    await first.release();
  });

  it("is the owner's alone", async () => {
    const output = join(await temporaryFolder(), "out.csv");
    const state = await openStateFolder(output, start);
    await state.save(aCheckpoint());
    expect((await stat(statePath(output))).mode & 0o077).toBe(0);
    expect((await stat(join(statePath(output), "checkpoint.json"))).mode & 0o077).toBe(0);
    await state.remove();
    expect(existsSync(statePath(output))).toBe(false);
  });

  it("does not misread a checkpoint of another version, nor a torn one", async () => {
    const other = await interrupted(JSON.stringify({ ...aCheckpoint(), version: 99 }));
    await expect(openStateFolder(other, resume)).rejects.toMatchObject({
      code: "checkpoint_version",
    });
    const torn = await interrupted('{"version":1');
    await expect(openStateFolder(torn, resume)).rejects.toMatchObject({
      code: "checkpoint_unreadable",
    });
  });
});

async function interrupted(text = JSON.stringify(aCheckpoint())): Promise<string> {
  const output = join(await temporaryFolder(), "out.csv");
  await mkdir(statePath(output));
  await writeFile(join(statePath(output), "checkpoint.json"), text);
  return output;
}

function aCheckpoint(): Checkpoint {
  return { version: checkpointVersion, runId: "r1" } as unknown as Checkpoint;
}
