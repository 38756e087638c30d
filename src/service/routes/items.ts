import type { FastifyInstance } from "fastify";
import { endpoints } from "../../api/endpoints.js";
import { lookupEndpoints } from "../../core/finding.js";
import type { Responder } from "../responder.js";
import type { ItemAnswer } from "../item-answers.js";

interface ItemPath {
  Params: { item: string };
}

/** `GET /beta/query/{item}` and `GET /beta/quick-check/{item}`. */
export function itemRoutes(
  app: FastifyInstance,
  responder: Responder,
  answerTo: (text: string) => ItemAnswer,
): void {
  for (const endpoint of lookupEndpoints) {
    const hasPartial = endpoints[endpoint].partial !== null;
    app.get<ItemPath>(`/beta/${endpoint}/:item`, (request, reply) => {
      const { item } = request.params;
      const answer = answerTo(item);
      responder.answer(reply, endpoint, item, {
        full: () => answer.full(endpoint),
        partial: hasPartial && answer.canBePartial ? (dice) => answer.partial(dice) : null,
      });
    });
  }
}
