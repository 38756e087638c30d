import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import { caseStates } from "../../api/schema/vocabulary.js";
import type { CaseDesk } from "../case-desk.js";
import { readIpList } from "../dataset/ip-list.js";
import { firstIssue, transitionRecord, webhookRecord } from "../dataset/records.js";
import type { TagLists } from "../snapshots.js";
import type { RequestStats } from "../stats.js";

/** Maximum size of a list in one request. */
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
  app.post<{ Params: { id: string } }>("/_local/cases/:id/transition", async (request, reply) => {
    const body = moveBody.safeParse(request.body);
    if (!body.success) return refuse(reply, 400, firstIssue(body.error));
    const { id } = request.params;
    const known = desk.find(id);
    if (known?.state === body.data.state)
      return refuse(reply, 409, `${id} is already ${known.state}`);
    return (
      (await desk.move(id, body.data.state)) ?? refuse(reply, 404, `case ${id} does not exist`)
    );
  });
  listRoutes(app, lists);
}

function webhookRoutes(app: FastifyInstance, desk: CaseDesk): void {
  app.get("/_local/webhooks", () => desk.webhooks());
  app.post("/_local/webhooks", (request, reply) => {
    const body = webhookRecord.safeParse(request.body);
    if (!body.success) return refuse(reply, 400, firstIssue(body.error));
    desk.save(body.data);
    return reply.code(201).send(body.data);
  });
  app.get("/_local/transitions", () => desk.transitions());
  app.post("/_local/transitions", (request, reply) => {
    const body = transitionRecord.safeParse(request.body);
    if (!body.success) return refuse(reply, 400, firstIssue(body.error));
    if (desk.attach(body.data)) return reply.code(201).send(body.data);
    return refuse(reply, 404, `webhook ${JSON.stringify(body.data.webhook)} does not exist`);
  });
}

function listRoutes(app: FastifyInstance, lists: TagLists): void {
  app.put<TagPath>("/_local/tags/:name/ips", { bodyLimit: listBodyLimit }, (request, reply) => {
    const { name } = request.params;
    if (!lists.current(name))
      return refuse(reply, 404, `tag ${JSON.stringify(name)} does not exist`);
    const text = typeof request.body === "string" ? request.body : entriesOf(request.body);
    if (text === null) {
      return refuse(reply, 400, 'send {"entries": [...]}, or one address per line as text/plain');
    }
    const list = readIpList([text]);
    if ("line" in list) {
      const what = `entry ${list.line}: ${JSON.stringify(list.text)} is not an IP address`;
      return refuse(reply, 400, what);
    }
    const { lastUpdate, snapshot } = lists.replace(name, list);
    return reply.send({ tag: name, total: list.length, lastUpdate, snapshot });
  });
  app.delete<TagPath>("/_local/tags/:name/snapshots", (request, reply) => {
    const { name } = request.params;
    if (!lists.current(name))
      return refuse(reply, 404, `tag ${JSON.stringify(name)} does not exist`);
    lists.expire(name);
    return reply.code(204).send();
  });
}

function entriesOf(body: unknown): string | null {
  const parsed = listBody.safeParse(body);
  return parsed.success ? parsed.data.entries.join("\n") : null;
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ message });
}
