import { onTestFinished } from "vitest";
import { createDispatcher } from "../../../src/client/api/http/dispatcher.js";
import { IntelClient } from "../../../src/client/api/intel-client.js";
import type { TagIps } from "../../../src/client/api/calls.js";
import { systemClock } from "../../../src/core/clock.js";
import { reply, startScriptedServer, type Step } from "../../helpers/scripted-server.js";

/** A request for a page of a tag's list. */
interface PageRequest {
  readonly tag: string;
  readonly offset: number;
  readonly limit: number;
  readonly snapshot: string | null;
  /** Number of pages requested before this one. */
  readonly at: number;
}

/** Changes a valid answer, or replaces it. */
export type Bend = (page: TagIps, request: PageRequest) => TagIps | Step;

export type TagServer = Awaited<ReturnType<typeof startTagServer>>;

export interface ServedList {
  readonly entries: readonly string[];
  readonly snapshot: string;
  readonly lastUpdate: string;
}

/** A served list whose token is one letter, repeated 24 times. */
export function served(entries: readonly string[], letter = "a"): ServedList {
  return { entries, snapshot: letter.repeat(24), lastUpdate: `2024-01-01T00:00:00Z ${letter}` };
}

/** Serves tags from a scripted server; `bend` may change each answer. */
export async function startTagServer(
  given: Readonly<Record<string, ServedList>>,
  bend: Bend = (page) => page,
) {
  // A test may change them.
  const lists = { ...given };
  const pages: PageRequest[] = [];
  const tags: string[] = [];
  const server = await startScriptedServer(({ path }) => {
    // Not parsed as a URL, which would resolve a tag named `..`.
    const [pathname = "", query = ""] = path.split("?");
    const [, , encoded = "", ips] = pathname.split("/");
    const tag = decodeURIComponent(encoded);
    const list = lists[tag];
    if (ips === undefined) tags.push(tag);
    if (!list) return failure(`there is no tag ${tag}`);
    if (ips === undefined) return success(describe(tag));
    const parameters = new URLSearchParams(query);
    const offset = Number(parameters.get("offset"));
    const limit = Number(parameters.get("limit"));
    const snapshot = parameters.get("snapshot");
    const request = { tag, offset, limit, snapshot, at: pages.length };
    pages.push(request);
    const answer = bend(
      {
        tag,
        entries: list.entries.slice(offset, offset + limit),
        lastUpdate: list.lastUpdate,
        total: list.entries.length,
        snapshot: list.snapshot,
      },
      request,
    );
    return typeof answer === "function" ? answer : success(answer);
  });
  const dispatcher = createDispatcher(server.url, { connections: 8 });
  onTestFinished(() => dispatcher.close());
  const client = new IntelClient({ baseUrl: server.url, dispatcher, clock: systemClock });
  return { url: server.url, client, pages, tags, lists };
}

/** The answer for a refused request. */
export function failure(message: string): Step {
  return reply(400, { status: "failure", statusCode: 400, errors: { $: message } });
}

/** This many IPv4 addresses from 198.18.0.0 (RFC 2544), shuffled. */
export function addresses(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, at) => {
    // Odd, so that every address of the /15 occurs once.
    const host = Math.imul(at + from, 77_777) & 0x1ffff;
    return `198.${18 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}`;
  });
}

function describe(name: string): object {
  return {
    name,
    intent: "malicious",
    category: "activity",
    description: `What ${name} means`,
    references: [{ url: "https://example.org/", description: "more" }],
    timeline: [],
  };
}

function success(result: unknown): Step {
  return reply(200, { status: "success", statusCode: 200, result });
}
