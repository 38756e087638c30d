import type { Attempt } from "../../core/attempt.js";
import type { AttemptLookup, AttemptWrapper } from "../types.js";
import type { Outage } from "./outage.js";

/** Holds attempts back during an outage, so that no lookup fails because of it. */
export function withBreaker(outage: Outage): AttemptWrapper {
  return (next) => {
    const inTurn: AttemptLookup = async (item, options) => {
      for (;;) {
        const probe = await outage.turn(options.signal);
        try {
          const made = next(item, options);
          const attempt = await (probe === null ? made : outage.inTime(probe, made));
          if (note(outage, attempt)) return attempt;
        } finally {
          if (probe !== null) outage.probed(probe);
        }
      }
    };
    return (item, options) => {
      if (outage.open) return inTurn(item, options);
      return next(item, options).then((attempt) =>
        note(outage, attempt) ? attempt : inTurn(item, options),
      );
    };
  };
}

/** Reports an attempt's outcome; returns false if the attempt has to be repeated. */
function note(outage: Outage, attempt: Attempt): boolean {
  const policy = attempt.again?.policy;
  if (policy !== "transient" && policy !== "throttled") {
    outage.succeeded();
    return true;
  }
  outage.failed(attempt);
  return !outage.open;
}
