import { expect, test } from "vitest";
import * as library from "../../src/index.js";

test("exports the client, the clients of each interface, errors, item functions and the service", () => {
  const clients = "repute Repute CaseClient IntelClient OpsClient";
  const errors =
    "EarlyEndError FatalError InterruptedError NotFoundError RejectedError ReputeError ServiceError " +
    "SnapshotChangedError ThrottledError TransientServiceError UsageError WebhookError";
  const items = "isBogon itemKinds parseKindName recogniseItem verdictOf";
  const more = "createDispatcher startService systemClock";
  const all = `${clients} ${errors} ${items} ${more}`.split(" ");
  expect(Object.keys(library).toSorted()).toEqual(all.toSorted());
});
