// A run that the benchmarks of the pace measure.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reputeProgram } from "./contestants.mjs";
import { startInstantService } from "./instant-service.mjs";
import { addressLines } from "./items.mjs";
import { runProgram } from "./run-program.mjs";

/**
 * Enriches this many addresses by a quick check each, from a server with these arguments. `around`
 * starts what else is needed for it, and returns more arguments.
 *
 * @returns what the server recorded, the resources used, and the rows by status
 */
export async function measuredRun({ rows, args, server = [], around = async () => [] }) {
  const folder = await mkdtemp(join(tmpdir(), "repute-pace-"));
  const record = join(folder, "server.json");
  const service = await startInstantService(["--record", record, ...server]);
  try {
    const [input, output] = [join(folder, "in.txt"), join(folder, "out.csv")];
    await writeFile(input, addressLines(rows));
    const more = [...args, ...(await around(folder, service.url))];
    const run = ["node", reputeProgram, "enrich", input, "-o", output, "--intel-url", service.url];
    const flags = ["--lookups", "quick-check", "--quiet"];
    const usage = await runProgram([...run, ...flags, ...more], { folder });
    const { statuses } = JSON.parse(await readFile(`${output}.manifest.json`, "utf8"));
    return { ...(await service.record(record)), usage, statuses };
  } finally {
    service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
