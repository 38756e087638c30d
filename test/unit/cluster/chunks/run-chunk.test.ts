import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSealedJson, sealJson } from "../../../../src/core/files/json-file.js";
import { type Service, startService } from "../../../../src/service/service.js";
import { ChunkedRun } from "../../../helpers/chunked-run.js";

let service: Service;
beforeAll(async () => void (service = await startService({ synthetic: 1 })));
afterAll(() => service.close());

const requests = (): number =>
  Object.values(service.stats().requests).reduce((sum, { total }) => sum + total, 0);

/** A divided input of three rows. */
async function divided() {
  const settings = { intelUrl: service.intelUrl, resume: true };
  const run = await ChunkedRun.of("in.csv", "ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n", settings);
  await run.split(2);
  return { run, folder: run.work.name, record: join(run.work.name, "chunk-00000.json") };
}

test("an attempt that ends after its worker has lost the chunk publishes nothing, and is continued", async () => {
  const { run, folder } = await divided();
  const lost = new AbortController();
  const onPublished = async () => lost.abort(new Error("lost"));
  await expect(run.enrich(0, {}, { signal: lost.signal, onPublished })).rejects.toThrow("lost");
  expect(await readdir(folder)).not.toContain("chunk-00000.json");
  const before = requests();
  expect(await run.enrich(0)).toMatchObject({ wasDone: false, result: { rows: 2 } });
  expect(requests()).toBe(before);
});

test("the record of an earlier plan that appears late is replaced", async () => {
  const { run, record } = await divided();
  const { result } = await run.enrich(0);
  const earlier = sealJson({
    ...openSealedJson(await readFile(record, "utf8")),
    plan_id: "earlier",
  });
  await rm(record);
  const onPublished = () => writeFile(record, earlier);
  const { wasDone } = await run.enrich(0, {}, { onPublished });
  expect(wasDone).toBe(false);
  expect(openSealedJson(await readFile(record, "utf8"))).toMatchObject({ plan_id: result.plan_id });
});
