// @ts-check
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("instant-server.mjs", import.meta.url));

/**
 * Starts the instant server as a separate process.
 *
 * @param {readonly string[]} [args] see `instant-server.mjs`
 * @returns {Promise<{ url: string, stop: () => void, record: (file: string) => Promise<{ arrivals:
 *   number[], passed: boolean[] }> }>} `record` stops it too, and reads what it recorded
 */
export async function startInstantService(args = []) {
  const server = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const url = await new Promise((resolve, reject) => {
    server.on("error", reject);
    server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    server.stdout.once("data", (text) => resolve(String(text).trim()));
  });
  const stop = () => void server.kill();
  return {
    url,
    stop,
    async record(file) {
      stop();
      await ended;
      return JSON.parse(await readFile(file, "utf8"));
    },
  };
}
