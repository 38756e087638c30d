import type { FastifyInstance } from "fastify";
import type { Exchange } from "../exchange.js";
import type { ItemAnswer } from "../item-answers.js";

interface ItemPath {
  Params: { item: string };
}

/** `GET /beta/query/{item}` and `GET /beta/quick-check/{item}` (interface: Endpoints, Lookup). */
export function itemRoutes(
  app: FastifyInstance,
  exchange: Exchange,
  answerTo: (text: string) => ItemAnswer,
): void {
  app.get<ItemPath>("/beta/query/:item", (request, reply) => {
    const { item } = request.params;
    const answer = answerTo(item);
    exchange.answer(reply, "query", item, {
      full: () => answer.query(),
      partial: answer.canBePartial ? (dice) => answer.partial(dice) : null,
    });
  });
  app.get<ItemPath>("/beta/quick-check/:item", (request, reply) => {
    const { item } = request.params;
    const answer = answerTo(item);
    exchange.answer(reply, "quick-check", item, {
      full: () => answer.quickCheck(),
      partial: null,
    });
  });
}
