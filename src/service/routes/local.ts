import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { caseStates } from "../../api/schema/vocabulary.js";
import type { CaseDesk } from "../case-desk.js";
import { readIpList } from "../dataset/ip-list.js";
import { firstIssue, transitionRecord, webhookRecord } from "../dataset/records.js";
import type { TagLists } from "../snapshots.js";
import type { RequestStats } from "../stats.js";

const listBodyLimit = 256 * 1024 * 1024;

const moveBody = z.strictObject({ state: z.enum(caseStates) });
const listBody = z.strictObject({ entries: z.array(z.string()) });

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
  desk: CaseDesk,
  lists: TagLists,
): void {
  app.get("/_local/stats", () => stats.snapshot());
  webhookRoutes(app, desk);
  app.post<{ Params: { id: string } }>("/_local/cases/:id/transition", (request) => {
    const { state } = parsed(moveBody, request.body);
    const { id } = request.params;
    const known = desk.find(id);
    if (known === null) throw refusal(404, `case ${id} does not exist`);
    if (known.state === state) throw refusal(409, `${id} is already ${known.state}`);
    return desk.move(id, state);
  });
  listRoutes(app, lists);
}

function webhookRoutes(app: FastifyInstance, desk: CaseDesk): void {
  app.get("/_local/webhooks", () => desk.webhooks());
  app.post("/_local/webhooks", (request, reply) => {
    const webhook = parsed(webhookRecord, request.body);
    desk.save(webhook);
    return reply.code(201).send(webhook);
  });
  app.get("/_local/transitions", () => desk.transitions());
  app.post("/_local/transitions", (request, reply) => {
    const transition = parsed(transitionRecord, request.body);
    if (desk.attach(transition)) return reply.code(201).send(transition);
    throw refusal(404, `webhook ${JSON.stringify(transition.webhook)} does not exist`);
  });
}

function listRoutes(app: FastifyInstance, lists: TagLists): void {
  const assertTag = (name: string): void => {
    if (!lists.current(name)) throw refusal(404, `tag ${JSON.stringify(name)} does not exist`);
  };
  app.put<TagPath>("/_local/tags/:name/ips", { bodyLimit: listBodyLimit }, (request, reply) => {
    const { name } = request.params;
    assertTag(name);
    const list = readIpList(textOf(request.body));
    if ("line" in list) {
      const what = `entry ${list.line}: ${JSON.stringify(list.text)} is not an IP address`;
      throw refusal(400, what);
    }
    const { lastUpdate, snapshot } = lists.replace(name, list);
    return reply.send({ tag: name, total: list.length, lastUpdate, snapshot });
  });
  app.delete<TagPath>("/_local/tags/:name/snapshots", (request, reply) => {
    const { name } = request.params;
    assertTag(name);
    lists.expire(name);
    return reply.code(204).send();
  });
}

/** The addresses of a list as sent, one per line. */
function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  const { success, data } = listBody.safeParse(body);
  if (success) return data.entries.join("\n");
  throw refusal(400, 'send {"entries": [...]}, or one address per line as text/plain');
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
