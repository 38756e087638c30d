import type { FastifyInstance } from "fastify";
import { snapshotLength, tagIpsLimit } from "../../api/schema/vocabulary.js";
import { failure, success, type ServedAnswer } from "../served-answer.js";
import type { DatasetTag } from "../dataset/dataset.js";
import type { Responder } from "../responder.js";
import type { TagLists } from "../snapshots.js";

/**
 * Entries per page if the request has no `limit`. The interface leaves the default open.
 */
const defaultLimit = 1000;

type TagQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

interface TagPath {
  Params: { name: string };
  Querystring: TagQuery;
}

export function tagRoutes(
  app: FastifyInstance,
  responder: Responder,
  tags: ReadonlyMap<string, DatasetTag>,
  lists: TagLists,
): void {
  app.get<TagPath>("/beta/tags", (request, reply) => {
    const descriptions = request.query["includeDescriptions"] === "true";
    const full = () => tagList(tags, descriptions);
    responder.answer(reply, "tags", request.url, { full, partial: null });
  });
  app.get<TagPath>("/beta/tags/:name", (request, reply) => {
    const { name } = request.params;
    const full = () => {
      const known = tags.get(name);
      return known ? success(JSON.stringify(known.tag)) : unknownTag(name);
    };
    responder.answer(reply, "tag", name, { full, partial: null });
  });
  app.get<TagPath>("/beta/tags/:name/ips", (request, reply) => {
    const full = () => tagIps(lists, request.params.name, request.query);
    responder.answer(reply, "tag-ips", request.url, { full, partial: null });
  });
}

function tagList(tags: ReadonlyMap<string, DatasetTag>, descriptions: boolean): ServedAnswer {
  const list = [...tags.values()].map(({ tag: { name, intent, category, description } }) =>
    descriptions ? { name, intent, category, description } : { name, intent, category },
  );
  return success(JSON.stringify(list));
}

function unknownTag(name: string): ServedAnswer {
  return failure(`tag ${JSON.stringify(name)} does not exist`);
}

function tagIps(lists: TagLists, name: string, query: TagQuery): ServedAnswer {
  if (!lists.current(name)) return unknownTag(name);
  const offset = wholeNumber(query["offset"] ?? "0");
  if (offset === null) return failure("offset must be an integer of at least 0");
  const limit = wholeNumber(query["limit"] ?? String(defaultLimit));
  if (limit === null || limit < tagIpsLimit.min || limit > tagIpsLimit.max) {
    return failure(`limit must be an integer from ${tagIpsLimit.min} to ${tagIpsLimit.max}`);
  }
  const snapshot = query["snapshot"];
  if (snapshot !== undefined && snapshot.length !== snapshotLength) {
    return failure(`snapshot must have exactly ${snapshotLength} characters`);
  }
  const version =
    snapshot === undefined ? lists.current(name) : lists.pinned(name, String(snapshot));
  if (!version) return failure(`snapshot does not belong to ${name}, or has expired`);
  const page = {
    tag: name,
    entries: version.list.slice(offset, offset + limit),
    lastUpdate: version.lastUpdate,
    total: version.list.length,
    snapshot: version.snapshot,
  };
  return success(JSON.stringify(page));
}

function wholeNumber(value: string | readonly string[]): number | null {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : null;
}
