import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runningService } from "../service/running-service.js";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const bash = "/bin/bash";

test.skipIf(!existsSync(bash))("process substitution passes the key", async () => {
  const { intelUrl } = await runningService({ apiKey: "rehearsal-key" });
  const command = `"${process.execPath}" "${program}" query 192.0.2.1 --intel-url ${intelUrl} --api-key-file <(echo rehearsal-key)`;
  const { stdout, stderr } = await promisify(execFile)(bash, ["-c", command]);
  expect([JSON.parse(stdout), stderr]).toMatchObject([{ status: "complete" }, ""]);
});
