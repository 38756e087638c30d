import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, readdir, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { awaitLock, takeLock } from "../../../../src/core/files/run-lock.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

describe("takeLock", () => {
  it("keeps a second run out and names the process that is there", async () => {
    const path = join(await temporaryFolder(), "lock");
    const release = await takeLock(path);
    await expect(takeLock(path)).rejects.toMatchObject({
      code: "output_locked",
      message: expect.stringContaining(String(process.pid)) as string,
    });
    await release();
    await expect(takeLock(path).then((release) => release())).resolves.toBeUndefined();
  });

  it("takes over what a dead process left", async () => {
    const path = join(await temporaryFolder(), "lock");
    const dead = { pid: 2 ** 22 + 1, host: hostname(), startedAt: "1", boot: null, token: "t" };
    await writeFile(path, JSON.stringify(dead));
    const release = await takeLock(path);
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid });
    await release();
  });

  it("takes over what a killed process left whose parent does not ask for it", async () => {
    const path = join(await temporaryFolder(), "lock");
    // The shell becomes a program that knows of no child.
    const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [said] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(said.toString());
    await writeFile(
      path,
      JSON.stringify({ pid, host: hostname(), startedAt: null, boot: null, token: "t" }),
    );
    await expect(takeLock(path)).rejects.toMatchObject({ code: "output_locked" });
    process.kill(pid, "SIGKILL");
    const release = await vi.waitFor(() => takeLock(path), { timeout: 10_000, interval: 20 });
    await release();
    parent.kill("SIGKILL");
  });

  it("takes over when the number of the process has gone to another one", async () => {
    const path = join(await temporaryFolder(), "lock");
    const reused = {
      pid: process.pid,
      host: hostname(),
      startedAt: "before",
      boot: null,
      token: "t",
    };
    await writeFile(path, JSON.stringify(reused));
    await expect(takeLock(path).then((release) => release())).resolves.toBeUndefined();
  });

  it("takes over a lock that is cut off", async () => {
    const path = join(await temporaryFolder(), "lock");
    await writeFile(path, '{"pid":');
    await expect(takeLock(path).then((release) => release())).resolves.toBeUndefined();
  });

  it("leaves a lock of another machine alone", async () => {
    const path = join(await temporaryFolder(), "lock");
    const other = { pid: 1, host: "elsewhere.example", startedAt: null, boot: null, token: "t" };
    await writeFile(path, JSON.stringify(other));
    await expect(takeLock(path)).rejects.toMatchObject({ code: "output_locked" });
  });

  it("gives a stale lock to exactly one of many that want it", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "lock");
    const dead = { pid: 2 ** 22 + 1, host: hostname(), startedAt: "1", boot: null, token: "t" };
    await writeFile(path, JSON.stringify(dead));
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(path)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readdir(folder)).toEqual(["lock"]);
  });
});

describe("awaitLock", () => {
  it("waits for the one who holds it", async () => {
    const path = join(await temporaryFolder(), "lock");
    const release = await takeLock(path);
    const order: string[] = [];
    const waiting = awaitLock(path, 60_000).then((unlock) => {
      order.push("taken");
      return unlock;
    });
    // As long as this takes: one that did not wait would be in by now.
    for (let n = 0; n < 20; n++) await expect(awaitLock(path, 0)).resolves.toBeNull();
    order.push("given back");
    await release();
    await (
      await waiting
    )?.();
    expect(order).toEqual(["given back", "taken"]);
  });

  it("gives up when its patience ends", async () => {
    const path = join(await temporaryFolder(), "lock");
    const release = await takeLock(path);
    await expect(awaitLock(path, 0)).resolves.toBeNull();
    await release();
    const unlock = await awaitLock(path, 0);
    expect(unlock).toBeTypeOf("function");
    await unlock?.();
  });

  it.each([
    ["on another host", { host: "elsewhere" }],
    ["in another container", { namespace: "pid:[1]" }],
  ])("waits for a holder %s, but not for long", async (_, where) => {
    const path = join(await temporaryFolder(), "lock");
    const unseen = { pid: 1, host: hostname(), startedAt: "9", boot: null, token: "t", ...where };
    await writeFile(path, JSON.stringify(unseen));
    await expect(awaitLock(path, 0)).resolves.toBeNull();
    const before = new Date(Date.now() - 6_000);
    await utimes(path, before, before);
    const unlock = await awaitLock(path, 0);
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid });
    await unlock?.();
  });

  it("leaves nothing behind where it cannot be taken", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "lock"));
    await expect(awaitLock(join(folder, "lock"), 0)).rejects.toThrow("EISDIR");
    expect(await readdir(folder)).toEqual(["lock"]);
  });

  it("lets one in at a time", async () => {
    const path = join(await temporaryFolder(), "lock");
    let inside = 0;
    let most = 0;
    const visits = Array.from({ length: 12 }, async () => {
      const unlock = await awaitLock(path, 60_000);
      most = Math.max(most, ++inside);
      await readdir(path.slice(0, path.lastIndexOf("/")));
      inside--;
      await unlock?.();
    });
    await Promise.all(visits);
    expect(most).toBe(1);
  });
});
