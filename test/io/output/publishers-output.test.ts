import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Manifest } from "../../../src/core/manifest.js";
import { runRepute } from "../../helpers/run-repute.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const log = fileURLToPath(new URL("../../../samples/publishers/firewall.csv", import.meta.url));
const bad = ["--item-column", "dst_ip", "--only", "malicious,suspicious,listed", "--distinct"];

test("one command finds the bad addresses in a firewall log", async () => {
  const out = join(await temporaryFolder(), "bad.csv");
  const args = [...bad, "--columns", "verdict,tags", "-o", out, "--local"];
  const { code, stderr } = await runRepute(["enrich", log, ...args]);
  expect(code).toBe(0);
  const [header, ...rows] = (await readFile(out, "utf8")).trimEnd().split("\n");
  expect(header).toBe(
    "timestamp,action,src_ip,src_port,dst_ip,dst_port,proto,bytes,rep_status,rep_verdict,rep_tags",
  );
  expect(rows.map((row) => row.split(",").filter((_, at) => at === 4 || at === 9))).toEqual([
    ["192.0.2.1", "malicious"],
    ["203.0.113.40", "suspicious"],
    ["192.0.2.15", "malicious"],
    ["2001:db8::bad:1", "malicious"],
  ]);
  expect(stderr).toContain("10 read, 4 written");
  const manifest = JSON.parse(await readFile(`${out}.manifest.json`, "utf8")) as Manifest;
  expect(manifest).toMatchObject({ input: { rows: 10 }, output: { rows: 4 } });
  expect(manifest.left_out).toMatchObject({ only: 3, distinct: 3 });
  expect(await runRepute(["verify", out])).toMatchObject({ code: 0 });
});
