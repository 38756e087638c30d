import type { FastifyInstance } from "fastify";
import { bodiless, plain, type ServedAnswer } from "../served-answer.js";
import type { CaseDesk } from "../case-desk.js";
import type { Dataset } from "../dataset/dataset.js";
import type { Responder } from "../responder.js";

interface CustomersPath {
  Querystring: { cursor?: string | string[] };
}

interface CasePath {
  Params: { caseId: string };
}

export interface OperationsOptions {
  readonly accessToken: string;
  /** Customers per page. */
  readonly customersPage: number;
}

/** Routes of the operations interface. Its document leaves the cursor open; this one encodes an index. */
export function operationsRoutes(
  app: FastifyInstance,
  responder: Responder,
  customers: Dataset["customers"],
  desk: CaseDesk,
  { accessToken, customersPage }: OperationsOptions,
): void {
  app.get<CustomersPath>("/beta/ops/customers", (request, reply) => {
    const full = (): ServedAnswer => {
      if (!carriesToken(request.headers.authorization, accessToken)) return unauthorized();
      const start = startAt(request.query.cursor, customers.length);
      if (start === null) return bodiless(400);
      const end = start + customersPage;
      return plain(200, {
        items: customers.slice(start, end),
        next_cursor: end < customers.length ? cursorAt(end) : "",
      });
    };
    responder.answer(reply, "customers", request.url, { full, partial: null });
  });
  app.get<CasePath>("/beta/guardian-ops/rep-share/cases/:caseId", (request, reply) => {
    const { caseId } = request.params;
    const full = () => {
      const known = desk.find(caseId);
      return known ? plain(200, known) : bodiless(404);
    };
    responder.answer(reply, "rep-share-case", caseId, { full, partial: null });
  });
}

/** `GET /api/v1/cases/{caseId}/context`. */
export function caseContextRoutes(
  app: FastifyInstance,
  responder: Responder,
  contexts: Dataset["contexts"],
  caseApiKey: string,
): void {
  app.get<CasePath>("/api/v1/cases/:caseId/context", (request, reply) => {
    const { caseId } = request.params;
    const full = (): ServedAnswer => {
      if (!carriesToken(request.headers.authorization, caseApiKey)) return authenticationFailed();
      const context = contexts.get(caseId);
      return context ? plain(200, context) : bodiless(404);
    };
    responder.answer(reply, "case-context", caseId, { full, partial: null });
  });
}

/** True if an `Authorization` header carries the Bearer token. */
function carriesToken(header: string | undefined, token: string): boolean {
  return /^Bearer +(\S+) *$/i.exec(header ?? "")?.[1] === token;
}

const bearerWanted = { "www-authenticate": "Bearer" };

/** How the operations interface refuses credentials: without a body. */
function unauthorized(): ServedAnswer {
  return bodiless(401, bearerWanted);
}

/** How the case management instance refuses credentials. The specification gives only this name. */
function authenticationFailed(): ServedAnswer {
  return { ...plain(401, { message: "Authentication Failed" }), headers: bearerWanted };
}

function cursorAt(index: number): string {
  return Buffer.from(`customers:${index}`).toString("base64url");
}

/** Index of a page's first customer; null for an unknown cursor. */
function startAt(cursor: string | string[] | undefined, count: number): number | null {
  if (cursor === undefined || cursor === "") return 0;
  if (typeof cursor !== "string") return null;
  const match = /^customers:(\d{1,9})$/.exec(Buffer.from(cursor, "base64url").toString());
  const index = Number(match?.[1]);
  return match && index < count ? index : null;
}
