import { completeFinding } from "./complete-finding.mjs";

// Rows as programs that write a warehouse by themselves give them to it.

/** @param {number} number the row's, from 1 */
export function writtenRow(number) {
  return {
    row: { number, cells: [`cell ${number}`], extra: null, json: null, fault: null },
    item: { kind: "ip", value: `192.0.2.${number % 256}` },
    finding: {
      ...completeFinding,
      answers: {
        query: { result: { tags: ["scanner:web"], firstSeen: "2025-01-01T00:00:00Z" } },
      },
    },
  };
}
