import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { machineWithDump, nights, readNights, runLine } from "../../samples/nights.js";
import { runningService } from "../../service/running-service.js";

const run = promisify(execFile);

const service = await runningService();

test("systemd reads the units without a warning and finds the service well confined", async () => {
  const folder = await temporaryFolder();
  const unit = (await readNights("repute.service")).replace("/usr/local/bin/repute", "/bin/true");
  await writeFile(join(folder, "repute.service"), unit);
  await writeFile(join(folder, "repute.timer"), await readNights("repute.timer"));
  const paths = ["repute.service", "repute.timer"].map((name) => join(folder, name));
  const verified = await run("systemd-analyze", ["verify", "--man=no", ...paths]);
  expect(verified.stderr).toBe("");
  // Exposure from 0 to 100; a service without any option has 96.
  await run("systemd-analyze", ["security", "--offline=yes", "--threshold=20", paths[0] ?? ""]);
  await writeFile(join(folder, "repute.service"), unit.replace("Type=oneshot", "Type=once"));
  const wrong = await run("systemd-analyze", ["verify", "--man=no", paths[0] ?? ""]);
  expect(wrong.stderr).toContain("once");
});

test("systemd reads the unit of a worker without a warning and finds it well confined", async () => {
  const folder = await temporaryFolder();
  const name = "repute-worker@.service";
  const unit = await readFile(new URL(`../../../samples/workers/${name}`, import.meta.url), "utf8");
  const path = join(folder, name);
  await writeFile(path, unit.replace("/usr/local/bin/repute", "/bin/true"));
  const verified = await run("systemd-analyze", ["verify", "--man=no", path]);
  expect(verified.stderr).toBe("");
  await run("systemd-analyze", ["security", "--offline=yes", "--threshold=20", path]);
});

test("the unit's command ends with 0 and prints one JSON object", async () => {
  const machine = await machineWithDump(service.intelUrl);
  const unit = machine.placed(await readNights("repute.service"));
  const [, line = ""] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const [, url = ""] = /^Environment=REPUTE_INTEL_URL=(.*)$/m.exec(unit) ?? [];
  const ended = await runLine(line, machine, { REPUTE_INTEL_URL: url });
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({ exit_code: 0, exit_reason: "done" });
});

const labels = '{command="enrich",output="out.csv"}';
const failedLabels = '{command="enrich",output="out.csv",status="failed"}';
const completeLabels = '{command="enrich",output="out.csv",status="complete"}';

/** For each alert, series that raise it after two hours, and series of a good night. */
const alertCases: Readonly<Record<string, readonly [bad: Series, good: Series]>> = {
  ReputeFailed: [
    { [`repute_exit_code${labels}`]: "1x180" },
    { [`repute_exit_code${labels}`]: "3x180" },
  ],
  ReputeStalled: [
    { [`repute_running${labels}`]: "1x180", [`repute_update_time_seconds${labels}`]: "60x180" },
    { [`repute_running${labels}`]: "1x180", [`repute_update_time_seconds${labels}`]: "7190x180" },
  ],
  ReputeNightMissed: [
    { [`repute_last_success_time_seconds${labels}`]: "-90000x180" },
    { [`repute_last_success_time_seconds${labels}`]: "-80000x180" },
  ],
  ReputeStoppedEarly: [
    { [`repute_exit_code${labels}`]: "75x180" },
    { [`repute_exit_code${labels}`]: "0x180" },
  ],
  ReputeManyFailedRows: [
    { [`repute_rows${failedLabels}`]: "10x180", [`repute_rows${completeLabels}`]: "90x180" },
    { [`repute_rows${failedLabels}`]: "1x180", [`repute_rows${completeLabels}`]: "99x180" },
  ],
  ReputeDrift: [
    { [`repute_drift${labels}`]: "2x180", [`repute_running${labels}`]: "0x180" },
    { [`repute_drift${labels}`]: "0x180", [`repute_running${labels}`]: "0x180" },
  ],
};

type Series = Readonly<Record<string, string>>;

test("Prometheus reads the rules, and each alert fires when it should and only then", async () => {
  const folder = await temporaryFolder();
  const rules = join(nights, "prometheus-rules.yml");
  const { stdout } = await run("promtool", ["check", "rules", rules]);
  expect(stdout).toContain(`${Object.keys(alertCases).length} rules found`);
  const cases = (which: 0 | 1): object[] =>
    Object.entries(alertCases).map(([alertname, series]) => ({
      interval: "1m",
      input_series: Object.entries(series[which]).map(([name, values]) => ({
        series: name,
        values: values.replace(/x/, "+0x"),
      })),
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"}) or vector(0)`,
          eval_time: "2h",
          exp_samples: [{ labels: "{}", value: which === 0 ? 1 : 0 }],
        },
      ],
    }));
  const path = join(folder, "test.json");
  const tests = [...cases(0), ...cases(1)];
  await writeFile(path, JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
  const tested = await run("promtool", ["test", "rules", path]);
  expect(tested.stdout).toContain("SUCCESS");
});

/** Stands for Airflow: prints the tasks of a DAG in order, with `ds` filled in. */
const airflow = `
tasks = []
class DAG:
    def __init__(self, dag_id, default_args, **options): DAG.defaults = default_args
    def __enter__(self): return self
    def __exit__(self, *error): pass
class BashOperator:
    def __init__(self, task_id, bash_command):
        self.id, self.command, self.after = task_id, bash_command, None
        tasks.append(self)
    def __rshift__(self, other):
        other.after = self.id
        return other
`;

test("the tasks of the Airflow DAG run one after the other", async () => {
  const folder = await temporaryFolder();
  for (const path of ["airflow/providers/standard/operators", "airflow/sdk"]) {
    await mkdir(join(folder, path), { recursive: true });
  }
  await writeFile(join(folder, "airflow/sdk/__init__.py"), airflow);
  const operators = join(folder, "airflow/providers/standard/operators/bash.py");
  await writeFile(operators, "from airflow.sdk import BashOperator\n");
  const script = [
    "import json, runpy, sys",
    `runpy.run_path(sys.argv[1])`,
    "import airflow.sdk as a",
    "print(json.dumps([a.DAG.defaults['env'], [[t.id, t.after, t.command] for t in a.tasks]]))",
  ].join("\n");
  const printed = await run("python3", ["-c", script, join(nights, "airflow_repute.py")], {
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" },
  });
  const [env, tasks] = JSON.parse(printed.stdout) as [
    Readonly<Record<string, string>>,
    readonly (readonly [id: string, after: string | null, command: string])[],
  ];
  expect(tasks.map(([id, after]) => [id, after])).toEqual([
    ["plan", null],
    ["enrich", "plan"],
    ["fill", "enrich"],
    ["verify", "fill"],
  ]);
  const machine = await machineWithDump(service.intelUrl);
  await writeFile(join(machine.folder, "var/lib/repute/key"), "sample-key\n", { mode: 0o600 });
  const own = { REPUTE_INTEL_URL: machine.placed(env["REPUTE_INTEL_URL"] ?? "") };
  for (const [id, , command] of tasks) {
    const line = command.replaceAll("{{ ds }}", "2026-01-02").replace(/ \|\| \[.*$/, "");
    expect([id, (await runLine(line, machine, own)).code]).toEqual([id, 0]);
  }
});

interface Loader {
  readonly url: string;
  readonly bodies: string[];
  readonly keys: Set<string | undefined>;
  answer: { status: number; body: object };
}

async function startLoader(): Promise<Loader> {
  const loader: Omit<Loader, "url"> = {
    bodies: [],
    keys: new Set(),
    answer: { status: 200, body: {} },
  };
  const server = createServer((request, response) => {
    void textOf(request).then((body) => {
      loader.bodies.push(body);
      loader.keys.add(request.headers.authorization);
      response.writeHead(loader.answer.status, { "content-type": "application/json" });
      response.end(JSON.stringify(loader.answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return Object.assign(loader, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
}

interface Scripted {
  readonly code: number;
  readonly stderr: string;
}

function runScript(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Scripted> {
  return run("sh", [join(nights, name), ...args], { env: { ...process.env, ...env } }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: unknown) => error as Scripted,
  );
}

/** Bulk requests of a night, and their number of lines. */
async function bulkFile(): Promise<{ readonly path: string; readonly lines: number }> {
  const machine = await machineWithDump(service.intelUrl);
  const line = "repute enrich dump.csv -o bulk.ndjson --to es-bulk --quiet";
  const { code } = await runLine(line, machine, { REPUTE_INTEL_URL: service.intelUrl });
  const path = join(machine.folder, "var/lib/repute/bulk.ndjson");
  expect(code).toBe(0);
  return { path, lines: linesIn([await readFile(path, "utf8")]) };
}

function linesIn(bodies: readonly string[]): number {
  return bodies.join("").split("\n").length - 1;
}

test("the Elasticsearch script loads every request, and fails if a document is refused", async () => {
  const { path, lines } = await bulkFile();
  const loader = await startLoader();
  const env = { ES_API_KEY: "secret-of-the-test", LINES_PER_REQUEST: "40" };
  loader.answer.body = { errors: false, items: [] };
  expect((await runScript("load-elasticsearch.sh", [path, loader.url], env)).code).toBe(0);
  expect(loader.bodies.length).toBeGreaterThan(1);
  expect(linesIn(loader.bodies)).toBe(lines);
  expect([...loader.keys]).toEqual(["ApiKey secret-of-the-test"]);
  loader.answer.body = {
    errors: true,
    items: [{ index: { _id: "1", error: { type: "mapper" } } }],
  };
  const refused = await runScript("load-elasticsearch.sh", [path, loader.url], env);
  const conflict = { create: { _id: "1", status: 409, error: { type: "conflict" } } };
  loader.answer.body = { errors: true, items: [conflict, { create: { _id: "2", status: 201 } }] };
  expect((await runScript("load-elasticsearch.sh", [path, loader.url], env)).code).toBe(0);
  expect([refused.code, refused.stderr.includes("mapper")]).toEqual([1, true]);
  const none = await runScript("load-elasticsearch.sh", [nights, loader.url], env);
  expect(none.code).not.toBe(0);
});
