import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import type { ShellSession } from "./shell-session.js";

/** Folder of the programs that stand for those of other systems. */
export const stubs = "stubs";

/** Settings that the examples take as given; the rate saves time. */
const variables = (folder: string): Readonly<Record<string, string>> => ({
  XDG_CONFIG_HOME: join(folder, ".config"),
  REPUTE_INTEL_URL: "https://intel.example/beta",
  REPUTE_OPS_URL: "http://127.0.0.1:8080",
  REPUTE_ACCESS_TOKEN: "sample-access-token",
  REPUTE_CASE_URL: "http://127.0.0.1:8080",
  REPUTE_CASE_API_KEY: "sample-case-api-key",
  REPUTE_RATE: "999/s",
});

const enriched = "repute enrich dump.csv -o enriched.csv";
const nightly = "repute enrich dump.csv -o 'duckdb:intel.duckdb?table=nightly'";
const days = (extension: string): readonly string[] =>
  ["monday", "tuesday"].map((day) => `repute enrich dump.csv -o ${day}.${extension}`);
const chunk = "repute enrich work --chunk 0";

/** Commands that run once. Their files are copied to where examples need them. */
const shared: Readonly<Record<string, readonly string[]>> = {
  enriched: [enriched],
  parquet: ["repute enrich dump.csv -o enriched.parquet"],
  dataSet: ["repute enrich dump.csv -o enriched/ --to csv"],
  table: ["repute enrich dump.csv -o 'duckdb:intel.duckdb?table=enriched'"],
  cached: ["repute enrich dump.csv -o cached.csv --cache ~/.cache/repute"],
  csvDays: days("csv"),
  parquetDays: days("parquet"),
  nightly: [`${nightly} --json > first.json`, nightly],
  work: ["repute split dump.csv -o work", chunk],
  parquetWork: ["repute split dump.csv -o work --to parquet", chunk],
};

/** What the examples of a command find done: commands, and names of shared ones. */
const before: Readonly<Record<string, readonly string[]>> = {
  plan: ["cached"],
  extract: [
    "cp samples/publishers/prose-report.txt report.txt; mkdir -p mails/old; cp report.txt mails/old",
    "gzip -c report.txt > firewall.log.gz",
  ],
  enrich: ["mkdir nights"],
  retry: ["enriched", "parquet", "dataSet", "table"],
  verify: ["enriched", "table"],
  report: [
    "enriched",
    "csvDays",
    "mkdir nights; cp enriched.csv.manifest.json nights",
    "cp tuesday.csv nights/2026-01-02.csv; cp tuesday.csv.manifest.json nights/2026-01-02.csv.manifest.json",
    "table",
  ],
  diff: ["csvDays", "parquetDays", "nightly"],
  "cache stats": ["cached"],
  "cache prune": ["cached"],
  "cache clear": ["cached"],
  "tags export": ["enriched"],
};

/** The same before each example, because an earlier one used up or left files. */
export function again(command: string, example: string): readonly string[] {
  if (command === "cache clear") return ["cached"];
  if (command === "split") return ["rm -rf work"];
  if (command === "merge") {
    return ["rm -rf work", example.includes("parquet") ? "parquetWork" : "work"];
  }
  return example.includes("init --yes") ? ["rm -f .config/repute/config.yaml"] : [];
}

/**
 * Runs a command, or copies the files of a shared one.
 *
 * @returns null, or what a failed command printed
 */
export async function runStep(
  step: string,
  folder: string,
  session: ShellSession,
): Promise<string | null> {
  const lines = shared[step];
  if (lines === undefined) return session.runLine(step, folder, variables(folder));
  const made = madeBy(session).get(step) ?? makeShared(`shared-${step}`, lines, session);
  madeBy(session).set(step, made);
  const from = await made;
  await cp(from, folder, {
    recursive: true,
    filter: (path) => !givenFiles.has(relative(from, path)),
  });
  return null;
}

/** Folders with the files of shared commands, by their names. */
const sharedFolders = new WeakMap<ShellSession, Map<string, Promise<string>>>();

function madeBy(session: ShellSession): Map<string, Promise<string>> {
  const folders = sharedFolders.get(session) ?? new Map<string, Promise<string>>();
  sharedFolders.set(session, folders);
  return folders;
}

/** Files that every folder of a session has. */
const givenFiles = new Set(["samples", "dump.csv", "key", "events.ndjson.gz", ".exported"]);

async function makeShared(
  name: string,
  lines: readonly string[],
  session: ShellSession,
): Promise<string> {
  const folder = await session.folder(name);
  for (const line of lines) {
    expectDone(await session.runLine(line, folder, variables(folder)));
  }
  return folder;
}

/**
 * Fills a folder with the files that the examples of a command name.
 *
 * @returns the run ID of a run in a table, where the examples name one
 */
export async function prepareExamples(
  command: string,
  folder: string,
  { crm, session }: { readonly crm: string; readonly session: ShellSession },
): Promise<string> {
  const file = (name: string, text: string | Buffer, mode = 0o644): Promise<void> =>
    writeFile(join(folder, name), text, { mode });
  for (const name of [
    stubs,
    "reports",
    "more",
    ".repute",
    ".config/repute",
    ".config/fish/completions",
  ]) {
    await mkdir(join(folder, name), { recursive: true });
  }
  for (const name of ["psql", "nft", "load", "notify", "jq"]) {
    await file(`${stubs}/${name}`, "#!/bin/sh\ncat > /dev/null\n");
    await chmod(join(folder, stubs, name), 0o755);
  }
  const notify = JSON.parse(
    await readFile(join(folder, "samples/webhooks/notify-crm.json"), "utf8"),
  ) as object;
  const webhook = {
    ...notify,
    endpoint: crm,
    payload: { email: "{{ s.resolver_data.CustomerEmail }}" },
  };
  await file("notify.json", JSON.stringify(webhook));
  await cp(join(folder, "samples/webhooks/case-context.json"), join(folder, "context.json"));
  await file(".repute/endpoint-keys.json", JSON.stringify({ [crm]: "sample-endpoint-key" }), 0o600);
  await file(".repute/case-key", "sample-case-api-key\n", 0o600);
  await file(".repute/ops-token", "sample-access-token\n", 0o600);
  const hits = gzipSync('{"source":{"ip":"192.0.2.1"}}\n{"source":{"ip":"192.0.2.66"}}\n');
  for (const place of ["", "reports/", "more/"]) await file(`${place}hits.ndjson.gz`, hits);
  await file("dump.csv.gz", gzipSync(await readFile(join(folder, "dump.csv"))));
  await file("feed.tsv.gz", gzipSync("# feed\n192.0.2.1\tx\n198.51.100.77\ty\n"));
  await file("suspects.tsv", "192.0.2.1\tx\nexample.com\ty\n");
  if (command === "enrich") await createTable(join(folder, "intel.duckdb"));
  if (command !== "init")
    await file(".config/repute/config.yaml", "profiles:\n  nightly:\n    concurrency: 8\n");
  for (const step of before[command] ?? []) expectDone(await runStep(step, folder, session));
  if (command !== "diff") return "";
  const summary = JSON.parse(await readFile(join(folder, "first.json"), "utf8")) as {
    run_id: string;
  };
  return summary.run_id;
}

function expectDone(failure: string | null): void {
  if (failure !== null) throw new Error(failure);
}

async function createTable(path: string): Promise<void> {
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  await connection.run("CREATE TABLE iocs AS SELECT 1 AS id, '192.0.2.1' AS ioc");
  connection.closeSync();
  instance.closeSync();
}
