import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { takeLock } from "../../../../src/core/files/run-lock.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

describe("takeLock", () => {
  it("keeps a second run out and names the process that holds the lock", async () => {
    const path = join(await temporaryFolder(), "lock");
    const release = await takeLock(path);
    await expect(takeLock(path)).rejects.toMatchObject({
      code: "output_locked",
      message: expect.stringContaining(String(process.pid)) as string,
    });
    await release();
    await expect(takeLock(path).then((release) => release())).resolves.toBeUndefined();
  });

  it("takes over the lock of a dead process", async () => {
    const path = join(await temporaryFolder(), "lock");
    const dead = { pid: 2 ** 22 + 1, host: hostname(), startedAt: "1", boot: null, token: "t" };
    await writeFile(path, JSON.stringify(dead));
    const release = await takeLock(path);
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ pid: process.pid });
    await release();
  });

  it("takes over the lock of a killed process that its parent has not reaped", async () => {
    const path = join(await temporaryFolder(), "lock");
    // exec replaces the shell with a program that never reaps the child.
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

  it("takes over if the process ID was reused", async () => {
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

  it("takes over a truncated lock", async () => {
    const path = join(await temporaryFolder(), "lock");
    await writeFile(path, '{"pid":');
    await expect(takeLock(path).then((release) => release())).resolves.toBeUndefined();
  });

  it("respects a lock of another machine", async () => {
    const path = join(await temporaryFolder(), "lock");
    const other = { pid: 1, host: "elsewhere.example", startedAt: null, boot: null, token: "t" };
    await writeFile(path, JSON.stringify(other));
    await expect(takeLock(path)).rejects.toMatchObject({ code: "output_locked" });
  });

  it("waits out a takeover that was killed", async () => {
    const path = join(await temporaryFolder(), "lock");
    const dead = { pid: 2 ** 22 + 1, host: hostname(), startedAt: "1", boot: null, token: "t" };
    await writeFile(path, JSON.stringify(dead));
    await writeFile(`${path}.takeover`, "");
    const eightSecondsAgo = new Date(Date.now() - 8_000);
    await utimes(`${path}.takeover`, eightSecondsAgo, eightSecondsAgo);
    await expect(takeLock(path).then((release) => release())).resolves.toBeUndefined();
  });

  it("gives a stale lock to exactly one of many contenders", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "lock");
    const dead = { pid: 2 ** 22 + 1, host: hostname(), startedAt: "1", boot: null, token: "t" };
    await writeFile(path, JSON.stringify(dead));
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => takeLock(path)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readdir(folder)).toEqual(["lock"]);
  });
});
