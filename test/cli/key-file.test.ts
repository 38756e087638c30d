import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { startRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { runningService } from "../unit/service/running-service.js";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const bash = "/bin/bash";

describe.skipIf(!existsSync(bash))("process substitution", () => {
  test("passes the key", async () => {
    const { intelUrl } = await runningService({ apiKey: "rehearsal-key" });
    const command = `"${process.execPath}" "${program}" query 192.0.2.1 --intel-url ${intelUrl} --api-key-file <(echo rehearsal-key)`;
    const { stdout, stderr } = await promisify(execFile)(bash, ["-c", command]);
    expect([JSON.parse(stdout), stderr]).toMatchObject([{ status: "complete" }, ""]);
  });
});

describe.skipIf(process.platform === "win32")("a named pipe that never delivers a key", () => {
  test.each([
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("does not block %s", async (name, code) => {
    const pipe = join(await temporaryFolder(), "pipe");
    execFileSync("mkfifo", [pipe]);
    const args = ["query", "192.0.2.1", "--intel-url", "http://127.0.0.1:9/beta"];
    const { child, result } = startRepute([...args, "--api-key-file", pipe]);
    // The program has opened its end once this one opens.
    const writer = await open(pipe, "w");
    onTestFinished(() => writer.close());
    child.kill(name);
    expect(await result).toMatchObject({ code, stderr: `repute: stopped by ${name}\n` });
  });
});
