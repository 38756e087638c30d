import { setTimeout as sleep } from "node:timers/promises";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { enrichHere } from "../../helpers/enrich-here.js";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { reply, startScriptedServer } from "../../helpers/scripted-server.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { ipResult, plainResult, quickCheckResult, success } from "../api/answers.js";

const total = 400;

function address(n: number): string {
  return `198.18.${n >> 8}.${n & 255}`;
}

function hash(n: number): string {
  return n.toString(16).padStart(40, "a");
}

/** The service's result for an item: each has its own AS number. */
function resultOf(endpoint: string, item: string): object {
  const type = item.length === 40 ? "SHA1" : "IP";
  if (endpoint === "quick-check") return { ...quickCheckResult(), item, type };
  if (item.length === 40) return { ...plainResult("SHA1"), item };
  return { ...ipResult(), item, asn: { ...ipResult().asn, name: `of ${item}` } };
}

interface Shifting {
  readonly url: string;
  /** Unsolicited answers. */
  readonly extra: () => number;
}

/**
 * Answers every lookup after 1 ms, so that a connection's next request is already on its way, and
 * answers one in `every` twice.
 */
async function shifting(every: number): Promise<Shifting> {
  let extra = 0;
  const server = await startScriptedServer(({ path }, at) => {
    const [, endpoint = "", item = ""] = path.split("/");
    const answer = reply(200, success(resultOf(endpoint, decodeURIComponent(item))));
    return (socket, request) => {
      const again = at % every === every - 1;
      if (again) extra++;
      void answerLate(socket, () => answer(socket, request), again);
    };
  });
  return { url: server.url, extra: () => extra };
}

async function answerLate(socket: Socket, answer: () => void, again: boolean): Promise<void> {
  await sleep(1);
  if (socket.destroyed) return;
  answer();
  if (!again) return;
  await sleep(3);
  if (!socket.destroyed) answer();
}

test.each([["query"], ["query", "quick-check"]])(
  "no item gets another one's answer after an extra answer, and the cache stores none: %s, %s",
  async (...lookups) => {
    const server = await shifting(50);
    const cache = await temporaryFolder();
    const items = Array.from({ length: total }, (_unused, n) =>
      n % 4 === 0 ? hash(n) : address(n),
    );
    const options = {
      input: ["in.csv", `n,item\n${items.map((item, n) => `${n},${item}\n`).join("")}`],
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
