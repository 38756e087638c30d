import { expect, it } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { enrichHere } from "../../../helpers/enrich-here.js";
import { column } from "../../../helpers/workspace.js";

const rows = 1_000;
const input = column(
  "domain",
  Array.from({ length: rows }, (_, n) => `host-${n}.example.com`),
);
const mostRequests = rows + 2 * 32;

it("waits for a service that goes down and comes back, without losing a row", async () => {
  const server = await startAnsweringServer();
  const stopped = server.untilAsked(300).then(() => server.close());
  const said: string[] = [];
  const { manifest } = await enrichHere({
    input: ["in.csv", input],
    intelUrl: server.url,
    settings: { lookups: "query", rate: "2000/s" },
    onWarning(message) {
      said.push(message);
      if (message.endsWith("the run waits and probes it")) void stopped.then(() => server.start());
    },
  });
  expect(said).toEqual([
    expect.stringContaining("nothing but errors from"),
    expect.stringContaining("answers again after"),
  ]);
  expect(manifest.statuses.complete).toBe(rows);
  expect(server.total).toBeLessThanOrEqual(mostRequests);
});
