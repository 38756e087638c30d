import type { FastifyInstance } from "fastify";
import { bodiless, plain, type ServedAnswer } from "../served-answer.js";
import { bears } from "../bearer.js";
import type { Dataset } from "../dataset/dataset.js";
import type { Responder } from "../responder.js";
import { unauthorized } from "./operations.js";

/** `GET /api/v1/cases/{caseId}/context` (interface: Endpoints, Case context). */
export function caseContextRoutes(
  app: FastifyInstance,
  responder: Responder,
  contexts: Dataset["contexts"],
  caseApiKey: string,
): void {
  app.get<{ Params: { caseId: string } }>("/api/v1/cases/:caseId/context", (request, reply) => {
    const { caseId } = request.params;
    const full = (): ServedAnswer => {
      if (!bears(request.headers.authorization, caseApiKey)) return unauthorized();
      const context = contexts.get(caseId);
      return context ? plain(200, context) : bodiless(404);
    };
    responder.answer(reply, "case-context", caseId, { full, partial: null });
  });
}
