/**
 * A full finding without data, for tests and the programs they start.
 *
 * @type {import("../../src/core/finding.js").Finding}
 */
export const completeFinding = {
  status: "complete",
  answers: {},
  missing: [],
  source: "live",
  httpStatus: 200,
  attempts: 1,
  lookedUpAt: "2026-01-02T03:04:05.000Z",
  error: null,
};
