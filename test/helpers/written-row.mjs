import { completeFinding } from "./complete-finding.mjs";

// Rows for programs that write to a warehouse themselves.

/** @param {number} number number of the row, from 1 */
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
