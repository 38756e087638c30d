export interface ServedAnswer {
  readonly status: number;
  /** Empty for an answer without a body. */
  readonly body: string;
  readonly contentType: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteAnswer {
  readonly full: () => ServedAnswer;
  /** The answer with part of its data missing; null if the API has no partial answer here. */
  readonly partial: ((dice: number) => ServedAnswer) | null;
}

const json = "application/json; charset=utf-8";

/** Envelope of a full answer; `result` is JSON text. */
export function success(result: string): ServedAnswer {
  const body = `{"status":"success","statusCode":200,"result":${result}}`;
  return { status: 200, body, contentType: json };
}

/** Envelope of a partial answer, with empty `errors`; `result` is JSON text. */
export function partialSuccess(result: string): ServedAnswer {
  const body = `{"status":"partial_success","statusCode":503,"result":${result},"errors":{}}`;
  return { status: 503, body, contentType: json };
}

/** Envelope of a refused request, with the message in `errors.$`. */
export function failure(message: string): ServedAnswer {
  const body = `{"status":"failure","statusCode":400,"errors":{"$":${JSON.stringify(message)}}}`;
  return { status: 400, body, contentType: json };
}

/** JSON without the envelope. */
export function plain(status: number, value: unknown): ServedAnswer {
  return { status, body: JSON.stringify(value), contentType: json };
}

export function htmlAnswer(status: number, body: string): ServedAnswer {
  return { status, body, contentType: "text/html; charset=utf-8" };
}

/** An answer without a body, such as a refusal of the operations interface. */
export function bodiless(status: number, headers?: Readonly<Record<string, string>>): ServedAnswer {
  return { status, body: "", contentType: null, ...(headers ? { headers } : {}) };
}
