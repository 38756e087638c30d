import { expect, test } from "vitest";
import { enrichHere } from "../../helpers/enrich-here.js";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { reply, startScriptedServer } from "../../helpers/scripted-server.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { column } from "../../helpers/workspace.js";
import { ipResult, plainResult, quickCheckResult, success } from "../api/answers.js";

const total = 400;

const address = (n: number) => `198.18.${n >> 8}.${n & 255}`;
const hash = (n: number) => n.toString(16).padStart(40, "a");

/** The service's result for an item: each has its own AS number. */
function resultOf(endpoint: string, item: string): object {
  const type = item.length === 40 ? "SHA1" : "IP";
  if (endpoint === "quick-check") return { ...quickCheckResult(), item, type };
  if (item.length === 40) return { ...plainResult("SHA1"), item };
  return { ...ipResult(), item, asn: { ...ipResult().asn, name: `of ${item}` } };
}

/**
 * Answers every lookup after 1 ms, so that a connection's next request is already on its way, and
 * answers one in `every` twice.
 */
async function shifting(every: number) {
  let extra = 0;
  const { url } = await startScriptedServer(({ path }, at) => {
    const [, endpoint = "", item = ""] = path.split("/");
    const answer = reply(200, success(resultOf(endpoint, decodeURIComponent(item))));
    return (socket, request) => {
      const send = (): void => {
        if (!socket.destroyed) answer(socket, request);
      };
      setTimeout(send, 1);
      if (at % every !== every - 1) return;
      extra++;
      setTimeout(send, 4);
    };
  });
  return { url, extra: () => extra };
}

test.each([["query"], ["query", "quick-check"]])(
  "no item gets another one's answer after an extra answer, and the cache stores none: %s, %s",
  async (...lookups) => {
    const server = await shifting(50);
    const cache = await temporaryFolder();
    const items = Array.from({ length: total }, (_, n) => (n % 4 === 0 ? hash : address)(n));
    const options = {
      input: ["in.csv", column("item", items)],
      intelUrl: server.url,
      settings: { rate: "900/s", lookups, cache, concurrency: 8, failOn: "never" },
      clock: new HurriedClock(),
    } as const;
    const run = await enrichHere(options);
    expect(server.extra()).toBeGreaterThan(6);
    expect(wrongRows(run.records())).toEqual([]);
    const { complete, failed } = run.manifest.statuses;
    expect(complete + failed).toBe(total);
    expect(complete).toBeGreaterThan(total * 0.97);

    const again = await enrichHere({ ...options, settings: { ...options.settings, resume: true } });
    expect(wrongRows(again.records())).toEqual([]);
    const cached = again.records().filter(({ rep_source: source }) => source === "cache");
    expect(cached.length).toBeGreaterThanOrEqual(complete);
  },
);

/** Rows with data of another item. */
function wrongRows(rows: readonly Record<string, string>[]): Record<string, string>[] {
  return rows.filter(
    ({ item, rep_status: status, rep_item: asked, rep_type: type, rep_as_name: name }) =>
      asked !== item ||
      (status === "complete" &&
        (type === "SHA1" ? item?.length !== 40 || name !== "" : name !== `of ${item}`)),
  );
}
