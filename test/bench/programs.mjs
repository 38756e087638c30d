// The programs started by the pace benchmarks: the built program and its servers.
import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const limitedServer = fileURLToPath(new URL("limited-server.mjs", import.meta.url));
const noteUsage = new URL("note-usage.mjs", import.meta.url).href;

/** Enriches in.txt of the folder to out.csv. Resolves to the resources used. */
export async function enrich(folder, url, args) {
  const usage = join(folder, "client.json");
  await rm(join(folder, "out.csv"), { force: true });
  const child = spawn(
    process.execPath,
    ["--import", noteUsage, main, "enrich", "in.txt", "-o", "out.csv"].concat(
      ["--intel-url", url, "--quiet", "--restart"],
      args,
    ),
    {
      cwd: folder,
      env: { ...process.env, NOTE_USAGE: usage, REPUTE_BOGONS: "ask" },
      stdio: "inherit",
    },
  );
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 0) throw new Error(`enrich ended with ${code}`);
  return JSON.parse(await readFile(usage, "utf8"));
}

/** Rows of the output by status. */
export async function enrichedRows(folder) {
  const { statuses } = JSON.parse(await readFile(join(folder, "out.csv.manifest.json"), "utf8"));
  return statuses;
}

/** Starts the raw socket server. `stop` resolves to its record. */
export function startServer(folder, args = []) {
  const record = join(folder, "server.json");
  return start([limitedServer, "--record", record, ...args], record, process.env);
}

/** Starts `repute serve`. `stop` resolves to its record. */
export function serve(folder, args = []) {
  const record = join(folder, "server.json");
  const env = { ...process.env, NOTE_USAGE: record };
  return start(["--import", noteUsage, main, "serve", "--quiet", ...args], record, env);
}

async function start(args, record, env) {
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const line = await new Promise((resolve) =>
    child.stdout.once("data", (data) => resolve(`${data}`)),
  );
  return {
    url: /http:\/\/\S+/.exec(line)[0],
    abandon(error) {
      child.kill("SIGKILL");
      throw error;
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
      return JSON.parse(await readFile(record, "utf8"));
    },
  };
}
