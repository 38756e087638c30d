import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadCommands } from "../../src/cli/command-list.js";
import { parseArguments, readLine } from "../../src/cli/command-line/parse-arguments.js";
import { optionSpecs } from "../../src/cli/options/option-spec.js";
import { loadSettings } from "../../src/cli/options/settings.js";
import { again, prepareExamples, runStep, stubs } from "./help-fixtures.js";
import { shellWords, ShellSession } from "./shell-session.js";

const commands = await loadCommands();
const needsServer = /s3:\/\/|rediss?:\/\/|postgres:\/\//;

let session: ShellSession;
let crm: Server;

beforeAll(async () => {
  session = await ShellSession.open();
  crm = createServer((request, response) => {
    request.resume().on("end", () => response.end("{}"));
  }).listen(0, "127.0.0.1");
});

afterAll(async () => {
  crm.close();
  await session.close();
});

test.each(commands.map((command) => [command.name, command] as const))(
  "the examples of %s run",
  { timeout: 60_000 },
  async (name, { examples }) => {
    const folder = await session.folder(name.replaceAll(" ", "-"));
    const { port } = crm.address() as AddressInfo;
    const runId = await prepareExamples(name, folder, { crm: `http://127.0.0.1:${port}`, session });
    for (const example of Object.keys(examples)) {
      if (needsServer.test(example)) continue;
      const lines = [...again(name, example), adapted(example, folder, runId)];
      for (const line of lines) {
        const failure = await runStep(line, folder, session);
        expect([example, failure]).toEqual([example, null]);
      }
    }
  },
);

const onServers = commands.flatMap((command) =>
  Object.keys(command.examples)
    .filter((example) => needsServer.test(example))
    .map((example) => [example, command] as const),
);

test.runIf(onServers.length > 0).each(onServers)("%s is accepted", async (example, command) => {
  const words = shellWords(example);
  const parsed = await parseArguments(await readLine(words.slice(words.indexOf("repute") + 1)));
  if (parsed.action !== "run") throw new Error(`${example} is not a call of ${command.name}`);
  expect(optionSpecs(command.options).length).toBeGreaterThan(0);
  expect(() => loadSettings(command.options as never, [parsed.flags])).not.toThrow();
});

/** An example with what exists in the folder in place of its names. */
function adapted(example: string, folder: string, runId: string): string {
  const text = example
    .replaceAll("https://cases.example", session.origin)
    .replaceAll("https://ops.example", session.origin)
    .replaceAll(/\b4711\b/g, "case-2001")
    .replaceAll(" /data/", " ./")
    .replaceAll(" /shared/", " ./")
    .replaceAll("run=ID", `run=${runId}`);
  const asked = text.replace(/^(?=repute init$)/, "printf '\\n\\n\\n\\n\\n\\n' | ");
  if (asked.startsWith("source ")) return `! command -v bash || bash -c '${asked}'`;
  return asked.startsWith("repute ") && !/[|&]/.test(asked)
    ? asked
    : `PATH=${join(folder, stubs)}:"$PATH"\n${asked}`;
}
