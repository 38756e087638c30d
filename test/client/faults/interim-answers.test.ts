import fc from "fast-check";
import type { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createDispatcher } from "../../../src/client/api/http/dispatcher.js";
import { type Connect, ways } from "../../helpers/connections.js";
import { ipResult, success } from "../api/answers.js";
import { queriesOf } from "./lookup.js";

const note = "HTTP/1.1 103 Early Hints\r\n\r\n";
const body = JSON.stringify(success({ ...ipResult(), note }));
const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

/** Writes pieces apart from each other. */
async function writeApart(socket: Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    socket.write(piece);
    await nextTurn();
  }
}

const throughProxy = (proxy: string) =>
  createDispatcher("http://intel.example", { connections: 1, env: { http_proxy: proxy } });

describe.each<readonly [string, Connect]>([...ways, ["through a proxy", throughProxy]])(
  "%s",
  (way, connect) => {
    const query = queriesOf(connect);

    test.each([
      ["103 Early Hints", [note, answer]],
      ["102 without a phrase, in one piece with the answer", [`HTTP/1.1 102\r\n\r\n${answer}`]],
      ["102 and 103 with headers", [`HTTP/1.1 102 Processing\r\nx: y\r\n\r\n${note}`, answer]],
      ["103, byte by byte", Array.from(`${note}${answer}`)],
    ])("%s before the answer is skipped", async (_, pieces) => {
      const { finding, requests } = await query((socket) => void writeApart(socket, pieces));
      expect(requests[0]?.path.startsWith("http:")).toBe(way === "through a proxy");
      expect(finding).toMatchObject({ status: "complete" });
      expect(finding.answers.query?.result).toMatchObject({ note });
    });
  },
);

const query = queriesOf(ways[0][1]);

test("interim answers are skipped however they are cut", async () => {
  const interim = fc.constantFrom("102 Processing", "102", "103 Early Hints");
  const heads = fc.array(
    fc.tuple(interim, fc.constantFrom("", "x: y\r\n")).map((parts) => parts.join("\r\n")),
    { maxLength: 3 },
  );
  const cuts = fc.array(fc.nat(400), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(heads, cuts, async (before, places) => {
      const text = before.map((head) => `HTTP/1.1 ${head}\r\n`).join("") + answer;
      const ends = [0, ...places.toSorted((a, b) => a - b), text.length];
      const pieces = ends.slice(1).map((end, at) => text.slice(ends[at], end));
      const { finding } = await query((socket) => void writeApart(socket, pieces));
      expect(finding.answers.query?.result).toMatchObject({ note });
    }),
    { numRuns: 40 },
  );
});
