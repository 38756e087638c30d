import { expect, test } from "vitest";
import * as library from "../../src/index.js";

test("exports the client, the clients of each interface, errors, item functions and the service", () => {
  expect(Object.keys(library).sort()).toEqual([
    "CaseClient",
    "EarlyEndError",
    "FatalError",
    "IntelClient",
    "InterruptedError",
    "NotFoundError",
    "OpsClient",
    "RejectedError",
    "Repute",
    "ReputeError",
    "ServiceError",
    "SnapshotChangedError",
    "ThrottledError",
    "TransientServiceError",
    "UsageError",
    "WebhookError",
    "createDispatcher",
    "isBogon",
    "itemKinds",
    "parseKindName",
    "recogniseItem",
    "repute",
    "startService",
    "systemClock",
    "verdictOf",
  ]);
});
