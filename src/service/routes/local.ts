import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import { caseStates } from "../../api/schema/vocabulary.js";
import type { CaseDesk } from "../case-desk.js";
import type { PlaybookTransition, Webhook } from "../dataset/dataset.js";
import { IpList } from "../dataset/ip-list.js";
import { firstIssue, transitionRecord, webhookRecord } from "../dataset/record-schemas.js";
import type { TagLists } from "../snapshots.js";
import type { RequestStats } from "../stats.js";

/** Largest list that can be put in one request. */
const listBodyLimit = 512 * 1024 * 1024;

const moveBody = z.strictObject({ state: z.enum(caseStates) });
const listBody = z.strictObject({ entries: z.array(z.string()) });

interface TagPath {
  Params: { name: string };
}

/**
 * What the specification does not have, below `/_local/`: the counts, the webhook settings, the
 * trigger of a case's transition, and changes of a tag's list. Never counted, never at fault.
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
      return refuse(reply, 409, `${id} is ${known.state} already`);
    return (await desk.move(id, body.data.state)) ?? refuse(reply, 404, `there is no case ${id}`);
  });
  app.register(async (scope) => listRoutes(scope, lists));
}

function webhookRoutes(app: FastifyInstance, desk: CaseDesk): void {
  app.get("/_local/webhooks", () => desk.webhooks());
  app.post("/_local/webhooks", (request, reply) => {
    const body = webhookRecord.safeParse(request.body);
    if (!body.success) return refuse(reply, 400, firstIssue(body.error));
    const webhook: Webhook = body.data;
    desk.save(webhook);
    return reply.code(201).send(webhook);
  });
  app.get("/_local/transitions", () => desk.transitions());
  app.post("/_local/transitions", (request, reply) => {
    const body = transitionRecord.safeParse(request.body);
    if (!body.success) return refuse(reply, 400, firstIssue(body.error));
    const transition: PlaybookTransition = body.data;
    if (desk.attach(transition)) return reply.code(201).send(transition);
    return refuse(reply, 404, `there is no webhook ${JSON.stringify(transition.webhook)}`);
  });
}

function listRoutes(app: FastifyInstance, lists: TagLists): void {
  const asBytes = { parseAs: "buffer" } as const;
  app.addContentTypeParser("text/plain", asBytes, (_request, body, done) => done(null, body));
  app.put<TagPath>("/_local/tags/:name/ips", { bodyLimit: listBodyLimit }, (request, reply) => {
    const { name } = request.params;
    if (!lists.current(name)) return refuse(reply, 404, `there is no tag ${JSON.stringify(name)}`);
    const bytes = listBytes(request.body);
    if (bytes === null) {
      return refuse(reply, 400, 'send {"entries": [...]}, or one address a line as text/plain');
    }
    const list = IpList.parse([bytes]);
    if (!(list instanceof IpList)) {
      return refuse(
        reply,
        400,
        `entry ${list.line}: ${JSON.stringify(list.text)} is no IP address`,
      );
    }
    const { lastUpdate, snapshot } = lists.replace(name, list);
    return reply.send({ tag: name, total: list.size, lastUpdate, snapshot });
  });
  app.delete<TagPath>("/_local/tags/:name/snapshots", (request, reply) => {
    const { name } = request.params;
    if (!lists.current(name)) return refuse(reply, 404, `there is no tag ${JSON.stringify(name)}`);
    lists.expire(name);
    return reply.code(204).send();
  });
}

function listBytes(body: unknown): Uint8Array | null {
  if (body instanceof Uint8Array) return body;
  const parsed = listBody.safeParse(body);
  return parsed.success ? Buffer.from(parsed.data.entries.join("\n")) : null;
}

function refuse(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply.code(status).send({ message });
}
