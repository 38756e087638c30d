import type { FastifyInstance, FastifyRequest } from "fastify";
import { tagIpsQuery, wrongParameter, caseStates } from "../client/api/calls.js";
import { lookupEndpoints } from "../core/finding.js";
import type { Cases } from "./cases.js";
import { bodies, type Dataset, firstIssue } from "./dataset.js";
import type { answersFrom } from "./item-answers.js";
import {
  bodiless,
  failure,
  plain,
  type Responder,
  type ServedAnswer,
  success,
  callOf,
  type EndpointName,
} from "./responder.js";
import type { TagLists } from "./snapshots.js";
import { z } from "zod";

type ApiRequest = FastifyRequest<{
  Params: Readonly<Record<string, string>>;
  Querystring: Readonly<Record<string, string | string[] | undefined>>;
}>;

interface ApiData {
  readonly dataset: Dataset;
  readonly lists: TagLists;
  readonly cases: Cases;
  readonly itemAnswers: ReturnType<typeof answersFrom>;
  readonly accessToken: string;
  readonly caseApiKey: string;
}

/** Adds every route: those of the interface, and those below `/_local/`. */
export function addRoutes(app: FastifyInstance, responder: Responder, data: ApiData): void {
  localRoutes(app, responder, data);
  for (const endpoint of lookupEndpoints) {
    app.get(routeOf(endpoint), (request: ApiRequest, reply) => {
      const { item = "" } = request.params;
      return responder.answer(reply, endpoint, item, data.itemAnswers(endpoint, item));
    });
  }
  for (const [name, answerTo] of Object.entries(otherAnswers(data))) {
    const endpoint = name as EndpointName;
    app.get(routeOf(endpoint), (request: ApiRequest, reply) => {
      const full = () => answerTo(request);
      return responder.answer(reply, endpoint, request.url, { full, partial: null });
    });
  }
}

/** The path of an endpoint as fastify writes it: `/beta/tags/:name`. */
function routeOf(endpoint: EndpointName): string {
  return callOf(endpoint).path.replaceAll(/\{(\w+)\}/g, ":$1");
}

function otherAnswers({ dataset, lists, cases, accessToken, caseApiKey }: ApiData) {
  const { tags, contexts } = dataset;
  return {
    tags: ({ query }) => {
      const isLong = query["includeDescriptions"] === "true";
      const list = [...tags.values()].map(({ tag: { name, intent, category, description } }) =>
        isLong ? { name, intent, category, description } : { name, intent, category },
      );
      return success(JSON.stringify(list));
    },
    tag: ({ params: { name = "" } }) => {
      const known = tags.get(name);
      return known ? success(JSON.stringify(known.tag)) : unknownTag(name);
    },
    "tag-ips": ({ params: { name = "" }, query }) => tagIps(lists, name, query),
    customers: ({ headers, query }) =>
      carriesToken(headers.authorization, accessToken)
        ? customersPage(dataset.customers, query["cursor"])
        : bodiless(401, bearerWanted),
    "rep-share-case": ({ params }) => found(cases.byId.get(params["caseId"]!)),
    // The specification names this refusal, but shows no body.
    "case-context": ({ headers, params }) =>
      carriesToken(headers.authorization, caseApiKey)
        ? found(contexts.get(params["caseId"]!)?.context)
        : { ...plain(401, { message: "Authentication Failed" }), headers: bearerWanted },
  } satisfies { readonly [name in EndpointName]?: (request: ApiRequest) => ServedAnswer };
}

/** Entries per page if the request has no `limit`. The interface leaves the default open. */
const defaultLimit = 1000;

function tagIps(lists: TagLists, name: string, query: ApiRequest["query"]): ServedAnswer {
  if (!lists.current(name)) return unknownTag(name);
  const repeated = Object.keys(tagIpsQuery.shape).find((key) => Array.isArray(query[key]));
  if (repeated !== undefined) return failure(`${repeated} must be given once`);
  const { data, error } = tagIpsQuery.safeParse(query);
  if (error) return failure(wrongParameter(error).join(" "));
  const { offset = 0, limit = defaultLimit, snapshot: token } = data;
  const version = token === undefined ? lists.current(name) : lists.pinned(name, token);
  if (!version) return failure(`snapshot does not belong to ${name}, or has expired`);
  const { list, lastUpdate, snapshot } = version;
  const entries = list.slice(offset, offset + limit);
  return success(JSON.stringify({ tag: name, entries, lastUpdate, total: list.length, snapshot }));
}

function unknownTag(name: string): ServedAnswer {
  return failure(`tag ${JSON.stringify(name)} does not exist`);
}

const customersPerPage = 2;

/** Customers from a cursor on. The interface leaves the cursor open; this one encodes an index. */
function customersPage(
  customers: Dataset["customers"],
  cursor: string | string[] = "",
): ServedAnswer {
  const text = Buffer.from(String(cursor), "base64url").toString();
  const start = cursor === "" ? 0 : Number(/^customers:(\d{1,9})$/.exec(text)?.[1] ?? Infinity);
  const end = start + customersPerPage;
  if (start > 0 && start >= customers.length) return bodiless(400);
  const next = Buffer.from(`customers:${end}`).toString("base64url");
  const next_cursor = end < customers.length ? next : "";
  return plain(200, { items: customers.slice(start, end), next_cursor });
}

/** The value as JSON; 404 without a body if there is none. */
function found(value: object | undefined): ServedAnswer {
  return value ? plain(200, value) : bodiless(404);
}

const bearerWanted = { "www-authenticate": "Bearer" };

function carriesToken(header: string | undefined, token: string): boolean {
  return /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1] === token;
}

/** Lists may be long. */
const large = { bodyLimit: 256 * 1024 * 1024 };

const moveBody = z.strictObject({ state: z.enum(caseStates) });

/**
 * Routes below `/_local/`, which the API does not have: counts, webhook settings, triggers of case
 * transitions, and changes to a tag's list. They are not counted and never fail.
 */
function localRoutes(app: FastifyInstance, responder: Responder, { cases, lists }: ApiData): void {
  app.get("/_local/stats", () => responder.stats());
  app.post("/_local/cases/:id/transition", large, ({ params, body }: ApiRequest) => {
    const { state } = checked(moveBody, body);
    const id = params["id"]!;
    const known = cases.byId.get(id);
    if (!known) throw refusal(404, `case ${id} does not exist`);
    if (known.state === state) throw refusal(409, `${id} is already ${state}`);
    return cases.move(known, state);
  });
  app.get("/_local/webhooks", () => [...cases.webhooks.values()]);
  app.post("/_local/webhooks", large, ({ body }, reply) => {
    const webhook = checked(bodies.webhook, body);
    cases.webhooks.set(webhook.name, webhook);
    return reply.code(201).send(webhook);
  });
  app.get("/_local/transitions", () => cases.transitions);
  app.post("/_local/transitions", large, ({ body }, reply) => {
    const transition = checked(bodies.transition, body);
    const { webhook } = transition;
    if (!cases.webhooks.has(webhook)) throw refusal(404, `webhook "${webhook}" does not exist`);
    cases.transitions.push(transition);
    return reply.code(201).send(transition);
  });
  app.put("/_local/tags/:name/ips", large, ({ params, body }: ApiRequest) => {
    const list = checked(bodies.list, body);
    const name = params["name"]!;
    if (!lists.current(name)) throw refusal(404, `tag ${JSON.stringify(name)} does not exist`);
    const { lastUpdate, snapshot } = lists.replace(name, list);
    return { tag: name, total: list.length, lastUpdate, snapshot };
  });
}

function checked<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(body);
  if (!success) throw refusal(400, firstIssue(error));
  return data;
}

function refusal(statusCode: number, message: string): Error {
  return Object.assign(new Error(message), { statusCode });
}
