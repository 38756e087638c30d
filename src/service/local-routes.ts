import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { caseStates } from "../client/api/schema/vocabulary.js";
import type { Cases } from "./cases.js";
import { addressEntries, firstIssue, readIpList, records } from "./dataset/records.js";
import type { TagLists } from "./snapshots.js";
import type { RequestStats } from "./stats.js";

const listBodyLimit = 256 * 1024 * 1024;

const moveBody = z.strictObject({ state: z.enum(caseStates) });
const listBody = z.strictObject({ entries: addressEntries });

interface TagPath {
  Params: { name: string };
}

/**
 * Routes below `/_local/`, which the API does not have: counts, webhook settings, triggers of case
 * transitions, and changes to a tag's list. They are not counted and never fail.
 */
export function localRoutes(
  app: FastifyInstance,
  stats: RequestStats,
  cases: Cases,
  lists: TagLists,
): void {
  app.get("/_local/stats", () => stats.snapshot());
  app.post<{ Params: { id: string } }>("/_local/cases/:id/transition", (request) => {
    const { state } = parsed(moveBody, request.body);
    const { id } = request.params;
    const known = cases.byId.get(id);
    if (!known) throw refusal(404, `case ${id} does not exist`);
    if (known.state === state) throw refusal(409, `${id} is already ${state}`);
    return cases.move(known, state);
  });
  app.get("/_local/webhooks", () => [...cases.webhooks.values()]);
  app.post("/_local/webhooks", (request, reply) => {
    const webhook = parsed(records.webhooks, request.body);
    cases.webhooks.set(webhook.name, webhook);
    return reply.code(201).send(webhook);
  });
  app.get("/_local/transitions", () => cases.transitions);
  app.post("/_local/transitions", (request, reply) => {
    const transition = parsed(records.transitions, request.body);
    const { webhook } = transition;
    if (!cases.webhooks.has(webhook)) throw refusal(404, `webhook "${webhook}" does not exist`);
    cases.transitions.push(transition);
    return reply.code(201).send(transition);
  });
  listRoutes(app, lists);
}

function listRoutes(app: FastifyInstance, lists: TagLists): void {
  const assertTag = (name: string): void => {
    if (!lists.current(name)) throw refusal(404, `tag ${JSON.stringify(name)} does not exist`);
  };
  app.put<TagPath>("/_local/tags/:name/ips", { bodyLimit: listBodyLimit }, (request) => {
    const { name } = request.params;
    assertTag(name);
    const list = listIn(request.body);
    const { lastUpdate, snapshot } = lists.replace(name, list);
    return { tag: name, total: list.length, lastUpdate, snapshot };
  });
  app.delete<TagPath>("/_local/tags/:name/snapshots", (request, reply) => {
    const { name } = request.params;
    assertTag(name);
    lists.expire(name);
    return reply.code(204).send();
  });
}

/** The addresses in `{"entries": […]}`, or in plain text with one a line. */
function listIn(body: unknown): readonly string[] {
  if (typeof body !== "string") return readIpList(parsed(listBody, body).entries);
  try {
    return readIpList([body]);
  } catch (error) {
    throw refusal(400, (error as Error).message);
  }
}

function parsed<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw refusal(400, firstIssue(result.error));
}

/** The server answers with the status and the message. */
function refusal(statusCode: number, message: string): Error {
  return Object.assign(new Error(message), { statusCode });
}
