/** A request that waited for a connection was not sent, because the service throttles others. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";

  constructor() {
    super("the request was not sent: the service throttles");
  }
}
