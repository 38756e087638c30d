import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { reply, startScriptedServer } from "../../helpers/scripted-server.js";
import { ended } from "../../helpers/shell.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { machineWithDump, nights, readNights, runLine } from "../../samples/nights.js";
import { runningService } from "../../service/running-service.js";

const run = promisify(execFile);

const service = await runningService();

test.each([["nights/repute.service", "nights/repute.timer"], ["workers/repute-worker@.service"]])(
  "systemd reads %s without a warning and finds the service well confined",
  async (...units) => {
    const folder = await temporaryFolder();
    const samples = join(nights, "..");
    for (const unit of units) {
      const text = await readFile(join(samples, unit), "utf8");
      const own = text.replace("/usr/local/bin/repute", "/bin/true");
      await writeFile(join(folder, basename(unit)), own);
    }
    const paths = units.map((unit) => join(folder, basename(unit)));
    const verify = ["verify", "--man=no", ...paths];
    expect((await run("systemd-analyze", verify)).stderr).toBe("");
    // Exposure from 0 to 100; a service without any option has 96.
    await run("systemd-analyze", ["security", "--offline=yes", "--threshold=20", paths[0]!]);
    const sound = await readFile(paths[0]!, "utf8");
    await writeFile(paths[0]!, sound.replace("[Service]", "[Service]\nType=once"));
    expect((await run("systemd-analyze", verify)).stderr).toContain("once");
  },
);

test("the unit's command ends with 0 and prints one JSON object", async () => {
  const machine = await machineWithDump(service.intelUrl);
  const unit = machine.placed(await readNights("repute.service"));
  const [, line = ""] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const [, url = ""] = /^Environment=REPUTE_INTEL_URL=(.*)$/m.exec(unit) ?? [];
  const ended = await runLine(line, machine, { REPUTE_INTEL_URL: url });
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({ exit_code: 0, exit_reason: "done" });
});

/** Values of metrics without their prefix; `rows:failed` are those with this status. */
type Series = Readonly<Record<string, number>>;

/** For each alert, series that raise it after two hours, and series of a good night. */
const alertCases: Readonly<Record<string, readonly [bad: Series, good: Series]>> = {
  ReputeFailed: [{ exit_code: 1 }, { exit_code: 3 }],
  ReputeStalled: [
    { running: 1, update_time_seconds: 60 },
    { running: 1, update_time_seconds: 7190 },
  ],
  ReputeNightMissed: [{ last_success_time_seconds: -90000 }, { last_success_time_seconds: -80000 }],
  ReputeStoppedEarly: [{ exit_code: 75 }, { exit_code: 0 }],
  ReputeManyFailedRows: [
    { "rows:failed": 10, "rows:complete": 90 },
    { "rows:failed": 1, "rows:complete": 99 },
  ],
  ReputeDrift: [
    { drift: 2, running: 0 },
    { drift: 0, running: 0 },
  ],
};

/** A series with its labels. */
function labelled(series: string): string {
  const [name, status] = series.split(":");
  const of = status === undefined ? "" : `,status="${status}"`;
  return `repute_${name}{command="enrich",output="out.csv"${of}}`;
}

test("Prometheus reads the rules, and each alert fires when it should and only then", async () => {
  const folder = await temporaryFolder();
  const rules = join(nights, "prometheus-rules.yml");
  const { stdout } = await run("promtool", ["check", "rules", rules]);
  expect(stdout).toContain(`${Object.keys(alertCases).length} rules found`);
  const cases = (which: 0 | 1): object[] =>
    Object.entries(alertCases).map(([alertname, series]) => ({
      interval: "1m",
      input_series: Object.entries(series[which]).map(([name, value]) => ({
        series: labelled(name),
        values: `${value}+0x180`,
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
  let answer: object = {};
  const loader = await startScriptedServer(() => reply(200, answer));
  const env = { ...process.env, ES_API_KEY: "secret-of-the-test", LINES_PER_REQUEST: "40" };
  const load = (file: string, answered: object) => {
    answer = answered;
    const script = join(nights, "load-elasticsearch.sh");
    return ended("sh", [script, file, loader.url], { cwd: nights, env });
  };
  expect((await load(path, { errors: false, items: [] })).code).toBe(0);
  const bodies = loader.requests.map(({ body }) => body);
  expect(bodies.length).toBeGreaterThan(1);
  expect(linesIn(bodies)).toBe(lines);
  const keys = loader.requests.map(({ headers }) => headers["authorization"]);
  expect([...new Set(keys)]).toEqual(["ApiKey secret-of-the-test"]);
  const broken = { index: { _id: "1", error: { type: "mapper" } } };
  const refused = await load(path, { errors: true, items: [broken] });
  expect([refused.code, refused.stderr.includes("mapper")]).toEqual([1, true]);
  const conflict = { create: { _id: "1", status: 409, error: { type: "conflict" } } };
  const items = [conflict, { create: { _id: "2", status: 201 } }];
  expect((await load(path, { errors: true, items })).code).toBe(0);
  expect((await load(nights, {})).code).not.toBe(0);
});
