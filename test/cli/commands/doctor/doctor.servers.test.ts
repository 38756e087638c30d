import { afterAll, expect, test } from "vitest";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const cluster = await PostgresCluster.start();
afterAll(() => cluster.stop());

async function outputCheck(output: string): Promise<unknown> {
  const cwd = await temporaryFolder();
  const { stdout } = await runRepute(["doctor", "--local", "--json", "-o", output], { cwd });
  const { checks } = JSON.parse(stdout) as { checks: readonly { check: string }[] };
  return checks.find(({ check }) => check === "output");
}

test("doctor says whether a table takes rows, and makes none", async () => {
  expect(await outputCheck(cluster.url({ parameters: { table: "ioc" } }))).toMatchObject({
    status: "ok",
    finding: expect.stringMatching(/table=ioc takes rows$/),
  });
  expect(await cluster.query("SELECT to_regclass('ioc') AS found")).toEqual([{ found: null }]);
  await cluster.query("CREATE TABLE other (ip text)");
  expect(await outputCheck(cluster.url({ parameters: { table: "other" } }))).toMatchObject({
    status: "fail",
    remedy: expect.stringContaining("ALTER TABLE"),
  });
});
