// @ts-check
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("instant-server.mjs", import.meta.url));

/**
 * Starts the instant server as a separate process.
 *
 * @param {number} [latencyMs] delay of each answer. Default 0
 * @param {readonly string[]} [more] further flags
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function startInstantService(latencyMs = 0, more = []) {
  const server = spawn(process.execPath, [program, `--latency=${latencyMs}`, ...more], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    server.on("error", reject);
    server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    server.stdout.once("data", (text) => resolve(String(text).trim()));
  });
  const stop = async () => {
    if (!server.kill()) return;
    await new Promise((resolve) => server.once("close", resolve));
  };
  return { url, stop };
}
