import { expect, test } from "vitest";
import { reply, startScriptedServer } from "../../helpers/scripted-server.js";
import { workspace } from "../../helpers/workspace.js";
import { ipResult, plainResult, success } from "../../client/api/answers.js";

/** A service whose tags and networks look like formulas, and a function that runs a command. */
async function service({ failsFirst = false } = {}) {
  const server = await startScriptedServer(({ path }, at) => {
    const item = decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));
    if (item.includes("@")) {
      if (failsFirst && at === 0) return reply(500, {});
      return reply(200, success({ ...plainResult("EMAIL"), item }));
    }
    const asn = { countryCode: "DE", asn: "-1", name: "'=name" };
    return reply(200, success({ ...ipResult(), item, tags: ["=cmd", "'=cmd"], asn }));
  });
  const place = await workspace({ "in.txt": "203.0.113.1\n+a@example.com\n" });
  const address = ["--intel-url", `${server.url}/beta`, "--retries", "0", "--max-failed", "100%"];
  const night = (output: string) =>
    place.run("enrich", "in.txt", "-o", output, "-q", "--fail-on", "never", ...address);
  return { ...place, server, night, address };
}

test("the same answers in CSV, TSV and NDJSON are the same", async () => {
  const { run, night, read } = await service();
  await night("a.csv");
  await night("a.tsv");
  await night("a.ndjson");
  expect(await read("a.csv")).toContain(",'+a@example.com,");
  for (const pair of [
    ["a.csv", "a.ndjson"],
    ["a.ndjson", "a.tsv"],
  ]) {
    const { code, stdout } = await run("diff", ...pair, "--json");
    expect([code, stdout]).toEqual([0, ""]);
  }
});

test("a report shows values as they were received", async () => {
  const { run, night } = await service();
  const shown = async (name: string): Promise<string> => {
    await night(name);
    return (await run("report", name)).stdout.split("The run\n")[0]!;
  };
  const report = await shown("a.csv");
  expect(report).toMatch(/^ {2}=cmd /m);
  expect(report).toMatch(/^ {2}-1 '=name /m);
  expect(report).toBe(await shown("a.ndjson"));
});

test("a retry asks for the item as it was, and keeps it", async () => {
  const { server, read, run, night, address, write } = await service({ failsFirst: true });
  await write("in.txt", "+a@example.com\n");
  await night("a.csv");
  const { code } = await run("retry", "a.csv", "-o", "b.csv", "-q", ...address);
  expect(code).toBe(0);
  const asked = server.requests.map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
  expect([...new Set(asked)]).toEqual(["%2Ba%40example.com"]);
  const [, row] = (await read("b.csv")).split("\n");
  expect(row).toMatch(/^\+a@example\.com,'\+a@example\.com,email,complete,none,/);
});
