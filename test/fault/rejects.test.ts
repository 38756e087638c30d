import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { enrich } from "../../src/run/execute.js";
import type { Manifest } from "../../src/core/manifest/manifest.js";
import { startAnsweringServer } from "../helpers/answering-server.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { jobHere } from "../helpers/job-here.js";

const forms = [
  {
    name: "in.csv",
    input: 'n,domain\n1,a.example.com\n2,setup.exe\n3,gone.example.com,"sur,plus"\n4,\n',
    rejected: [
      "n,domain,reject_code,reject_reason",
      /^2,setup.exe,file_name,/,
      /^3,gone.example.com,http_404,.*,"sur,plus"$/,
      /^4,,empty,/,
    ],
  },
  {
    name: "in.ndjson",
    input: '{"domain":"a.example.com"}\n{"n":1.0,"domain":"gone.example.com"}\n{broken\n',
    rejected: [
      /^\{"n":1.0,"domain":"gone.example.com","reject_code":"http_404","reject_reason":".*"\}$/,
      "{broken",
    ],
  },
  {
    name: "in.txt",
    input: "# watch\na.example.com\nsetup.exe\ngone.example.com\n",
    rejected: [/^# file_name: /, "setup.exe", /^# http_404: /, "gone.example.com"],
  },
];

it.each(forms)(
  "writes rejected rows of $name in the input's format, ready for another run",
  async ({ name, input, rejected }) => {
    const { folder, run, absent } = await prepared();
    absent.add("gone.example.com");
    await writeFile(join(folder, name), input);
    const first = await run(name, "out.csv", `left.${name}`);
    const left = await readFile(join(folder, `left.${name}`), "utf8");
    const lines = left.trimEnd().split("\n");
    expect(lines).toHaveLength(rejected.length);
    for (const [n, line] of lines.entries()) expect(line).toMatch(rejected[n] ?? "");
    expect(existsSync(join(folder, `left.${name}.part`))).toBe(false);

    absent.clear();
    const second = await run(`left.${name}`, "out2.csv", `left2.${name}`);
    const { failed, unsupported } = first.statuses;
    expect(second.input.rows).toBe(failed + unsupported);
    expect(second.statuses.complete).toBe(1);
  },
);

async function prepared(): Promise<{
  folder: string;
  absent: Set<string>;
  run: (input: string, output: string, rejects: string) => Promise<Manifest>;
}> {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  const folder = await temporaryFolder();
  return {
    folder,
    absent: server.absent,
    run: (input, output, rejects) =>
      enrich(
        jobHere({
          settings: {
            intelUrl: server.url,
            output: join(folder, output),
            rejects: join(folder, rejects),
            lookups: "query",
          },
          input: { path: join(folder, input) },
        }),
      ),
  };
}
