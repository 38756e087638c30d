// Rows as programs that write a warehouse by themselves give them to it.

/** @param {number} number the row's, from 1 */
export function writtenRow(number) {
  return {
    row: { number, cells: [`cell ${number}`], extra: null, json: null, fault: null },
    item: { kind: "ip", value: `192.0.2.${number % 256}` },
    finding: {
      status: "complete",
      query: { tags: ["scanner:web"], firstSeen: "2025-01-01T00:00:00Z" },
      quickCheck: null,
      missing: [],
      source: "live",
      httpStatus: 200,
      attempts: 1,
      lookedUpAt: "2026-01-02T03:04:05.000Z",
      error: null,
    },
  };
}
