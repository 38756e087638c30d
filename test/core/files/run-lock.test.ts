import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { takeLock } from "../../../src/core/files/run-lock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const root = new URL("../../..", import.meta.url);
const importLock = 'import { takeLock } from "./dist/core/files/run-lock.js";';

it("a lock keeps a second run out", async () => {
  const path = join(await temporaryFolder(), "lock");
  const release = await takeLock(path);
  await expect(takeLock(path)).rejects.toMatchObject({ code: "output_locked" });
  release();
  await expect(takeLock(path).then((again) => again())).resolves.toBeUndefined();
});

it("a run takes over the lock of a killed process that its parent has not reaped", async () => {
  const path = join(await temporaryFolder(), "lock");
  const program = `${importLock}
    await takeLock(${JSON.stringify(path)});
    console.log(process.pid);
    setInterval(() => {}, 1_000);`;
  // exec replaces the shell with a program that never reaps the child.
  const parent = spawn(
    "sh",
    ["-c", '"$0" --input-type=module -e "$1" & exec sleep 600', process.execPath, program],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [said] = (await once(parent.stdout, "data")) as [Buffer];
  await expect(takeLock(path)).rejects.toMatchObject({ code: "output_locked" });
  process.kill(Number(said.toString()), "SIGKILL");
  const taken = () => takeLock(path).then((release) => release());
  await expect.poll(() => taken().catch(() => "locked")).toBeUndefined();
});

it("a lock is never held twice while processes take and free it", async () => {
  const folder = await temporaryFolder();
  const program = `${importLock}
    import { closeSync, openSync, rmSync } from "node:fs";
    const path = ${JSON.stringify(join(folder, "lock"))};
    for (let taken = 0; taken < 50;) {
      const release = await takeLock(path).catch((error) => {
        if (error.code !== "output_locked") throw error;
      });
      if (release === undefined) continue;
      closeSync(openSync(path + ".inside", "wx"));
      taken++;
      rmSync(path + ".inside");
      release();
    }`;
  const run = () =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { cwd: root });
  await expect(Promise.all(Array.from({ length: 4 }, run))).resolves.toHaveLength(4);
});
