import { spawn } from "node:child_process";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../helpers/free-port.js";
import { ended } from "../helpers/shell.js";
import { workspace } from "../helpers/workspace.js";

/** Runs a program with a text as its input. Both of its outputs count. */
async function fed(program: string, args: readonly string[], input = "") {
  const here = { cwd: ".", env: process.env };
  const { code, stdout, stderr } = await ended(program, args, here, input);
  return { code, text: stdout + stderr };
}

/** The metrics of a run with every kind of row, and a name that needs escapes. */
async function metricsOfRun(): Promise<{ readonly folder: string; readonly path: string }> {
  const rows = "0,198.51.100.1\n1,not an item\n2,example.com\n3,192.0.2.0/24\n4,\n";
  const { cwd, at, run } = await workspace({ "in.csv": `id,ip\n${rows}` });
  const args = ["in.csv", "-o", 'a "b"\\c.csv', "--local", "--synthetic", "7", "--tag-ips", "tags"];
  const watched = ["--item-column", "ip", "--metrics", "run.prom", "--quiet"];
  expect(await run("enrich", ...args, ...watched)).toMatchObject({ code: 0, stderr: "" });
  return { folder: cwd, path: at("run.prom") };
}

test("promtool finds nothing to criticise in the metrics of a run", async () => {
  const { path } = await metricsOfRun();
  const text = await readFile(path, "utf8");
  expect(await fed("promtool", ["check", "metrics"], text)).toEqual({ code: 0, text: "" });
  // The parser sees faults, so its silence means something.
  const broken = text.replace("# TYPE repute_rows gauge", "# TYPE repute_rows counter");
  const refused = await fed("promtool", ["check", "metrics"], broken);
  expect(refused.text).toMatch(/repute_rows.*_total/);
  expect(refused.code).not.toBe(0);
});

test("Prometheus reads the metrics of a run as OpenMetrics", async () => {
  const { folder, path } = await metricsOfRun();
  // Blocks need a time with each sample, which the textfile folder does not allow.
  const text = await readFile(path, "utf8");
  const timed = text.replaceAll(/^(repute_\w+\{.*\} \S+)$/gm, "$1 1700000000");
  const samples = timed.match(/ 1700000000$/gm) ?? [];
  expect(samples.length).toBeGreaterThan(30);
  await writeFile(path, timed);
  const blocks = ["tsdb", "create-blocks-from", "openmetrics", path, join(folder, "blocks")];
  const read = await fed("promtool", blocks);
  expect(read).toMatchObject({ code: 0 });
  // Without a write-ahead log, even an empty one, nothing is dumped.
  await mkdir(join(folder, "blocks", "wal"));
  const dump = await fed("promtool", ["tsdb", "dump", join(folder, "blocks")]);
  const stored = dump.text.split("\n").filter((line) => line.includes("repute_"));
  expect(stored).toHaveLength(samples.length);
  expect(stored.join("\n")).toContain(String.raw`output="a \"b\"\\c.csv"`);
  await writeFile(path, timed.replace("# EOF\n", ""));
  expect((await fed("promtool", blocks)).code).not.toBe(0);
});

test("node_exporter shows the metrics of a run with their types", async () => {
  const { folder, path } = await metricsOfRun();
  const textfiles = join(folder, "textfiles");
  await mkdir(textfiles);
  await copyFile(path, join(textfiles, "run.prom"));
  const port = await freePort();
  const flags = [
    "--collector.disable-defaults",
    "--collector.textfile",
    `--collector.textfile.directory=${textfiles}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const exporter = spawn("prometheus-node-exporter", flags, { stdio: "ignore" });
  onTestFinished(() => void exporter.kill("SIGKILL"));
  const shown = await pageOf(`http://127.0.0.1:${port}/metrics`);
  expect(shown).toContain("\nnode_textfile_scrape_error 0\n");
  const text = await readFile(path, "utf8");
  const types = text.match(/^# TYPE .*$/gm) ?? [];
  expect(types.length).toBeGreaterThan(8);
  for (const line of types) expect(shown).toContain(`\n${line}\n`);
  expect(shown.match(/^repute_/gm)).toHaveLength((text.match(/^repute_/gm) ?? []).length);
});

/** The text at an address, once somebody listens there. */
async function pageOf(address: string): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await (await fetch(address)).text();
    } catch (error) {
      if (attempt === 200) throw error;
      await delay(50);
    }
  }
}
