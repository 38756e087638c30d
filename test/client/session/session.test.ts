import { beforeEach, expect, it, onTestFinished } from "vitest";
import { enrichOptions } from "../../../src/jobs/enrich/options.js";
import type { Session, SessionOptions } from "../../../src/client/session/session.js";
import { startAnsweringServer } from "../../helpers/answering-server.js";
import { enrichHere, type EnrichedHere } from "../../helpers/enrich-here.js";
import { sessionHere } from "../../helpers/job-here.js";
import { column } from "../../helpers/workspace.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const server = await startAnsweringServer();
let before: number;
beforeEach(() => {
  before = server.total;
});

/** A session that outlives the runs of a test. */
function opened(
  settings: Readonly<Record<string, unknown>> = {},
  options: Partial<Omit<SessionOptions, "service">> = {},
): Session {
  const given = { bogons: "ask", intelUrl: server.url, lookups: "query", ...settings };
  const session = sessionHere(enrichOptions.parse(given), { isShared: true, ...options });
  onTestFinished(() => session.close());
  return session;
}

function run(items: readonly string[], session: Session): Promise<EnrichedHere> {
  const input = ["in.csv", column("ip", items)] as const;
  return enrichHere({ input, intelUrl: server.url, settings: { lookups: "query" }, session });
}

it("a run uses the answers that another run of the session left in the cache", async () => {
  const session = opened({ cache: await temporaryFolder() });
  await run(["192.0.2.1"], session);
  const { manifest } = await run(["192.0.2.1"], session);
  expect(server.total - before).toBe(1);
  expect(manifest.sources).toMatchObject({ cache: 1, live: 0 });
});

it("a quota used up by one run ends another, which can be resumed", async () => {
  const session = opened({ rate: "2/h" }, { stateFolder: null });
  await run(["192.0.2.1", "192.0.2.2"], session);
  await expect(run(["192.0.2.3"], session)).rejects.toMatchObject({ code: "quota_used_up" });
  expect(server.total - before).toBe(2);
});

it("connections outlive the runs that use them", async () => {
  const session = opened({ concurrency: 1 });
  await run(["192.0.2.1"], session);
  const { manifest } = await run(["192.0.2.2"], session);
  expect(manifest.statuses.complete).toBe(1);
});
