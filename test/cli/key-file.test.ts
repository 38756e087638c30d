import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { shell } from "../helpers/shell.js";
import { runningService } from "../service/running-service.js";

test.skipIf(!existsSync("/bin/bash"))("process substitution passes the key", async () => {
  const { intelUrl } = await runningService({ apiKey: "rehearsal-key" });
  const command = `repute query login.example.com --intel-url ${intelUrl} --api-key-file <(echo rehearsal-key)`;
  const { stdout, stderr } = await shell(command, { cwd: "." });
  expect([JSON.parse(stdout), stderr]).toMatchObject([{ status: "complete" }, ""]);
});
