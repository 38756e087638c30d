import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reply, startScriptedServer } from "../helpers/scripted-server.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { failure, ipResult } from "../client/api/answers.js";
import { runInProcess } from "./run-in-process.js";

/** Numbers that a double changes, and one that it keeps. */
const numbers = ["12345678901234567890", "-0.12345678901234567891", "1e400", "0.1"];
const member = `"n":[${numbers.join(",")}]`;

const tag = `{"name":"spam:x",${member}}`;
const success = (result: string) => `{"status":"success","statusCode":200,"result":${result}}`;
const result = `{${member},${JSON.stringify({ ...ipResult(), item: "192.0.2.1" }).slice(1)}`;

const answers: readonly (readonly [path: RegExp, body: string])[] = [
  [/^\/tags\?|^\/tags$/, success(`[${tag}]`)],
  [/^\/tags\//, success(tag)],
  [/^\/query\//, success(result)],
  [/customers/, `{"items":[{"customer_id":"c-1",${member}}]}`],
  [/rep-share/, `{"id":"c-1","event_ips":["192.0.2.1"],${member}}`],
  [/context$/, `{"s":{"resolver_data":{${member}}}}`],
  [/^\/hook$/, "{}"],
];

async function answered(args: readonly string[], columns?: number) {
  const server = await startScriptedServer(({ path }) => {
    const body = answers.find(([form]) => form.test(path))?.[1];
    return body === undefined ? reply(400, failure("no")) : reply(200, body);
  });
  const folder = await temporaryFolder();
  const payload = "{ all: '{{ s.resolver_data }}', text: 'n {{ s.resolver_data.n[0] }}' }";
  await writeFile(
    join(folder, "hook.yaml"),
    `{ name: n, endpoint: '${server.url}', path: hook, method: POST, payload: ${payload} }`,
  );
  const env = {
    REPUTE_INTEL_URL: server.url,
    REPUTE_OPS_URL: server.url,
    REPUTE_CASE_URL: server.url,
    REPUTE_ACCESS_TOKEN: "t",
    REPUTE_CASE_API_KEY: "k",
  };
  const { code, stdout, stderr } = await runInProcess(
    args.map((arg) => arg.replace("FOLDER", folder)),
    { env, ...(columns && { columns }) },
  );
  expect(code, stderr).toBe(0);
  return { stdout, body: server.requests.at(-1)?.body };
}

test.each([
  ["tags list"],
  ["tags show spam:x"],
  ["customers"],
  ["case show c-1"],
  ["case context c-1"],
  ["case enrich c-1 --to ndjson --shape flat"],
  ["query 192.0.2.1"],
])("%s prints every digit of a number", async (command) => {
  const { stdout } = await answered(command.split(" "));
  expect(stdout).toContain(member);
});

test.each([["tags show spam:x"], ["case show c-1"], ["case context c-1"], ["query 192.0.2.1"]])(
  "%s shows every digit on a terminal",
  async (command) => {
    const { stdout } = await answered(command.split(" "), 200);
    expect(stdout).toContain(numbers.join(", "));
  },
);

test("a webhook sends every digit of a case", async () => {
  const { body } = await answered("webhook send FOLDER/hook.yaml --case c-1".split(" "));
  expect(body).toBe(`{"all":{${member}},"text":"n ${numbers[0]}"}`);
});
