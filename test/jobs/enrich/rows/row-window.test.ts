import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../../../src/core/finding.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { RowWindow } from "../../../../src/jobs/enrich/rows/move-rows.js";
import { aFinding, anItem, aRow } from "../../../helpers/enriched-rows.js";

describe("RowWindow", () => {
  it("writes rows in input order for any interleaving of answers", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 12 }),
        async (scheduler, total, capacity) => {
          const written: number[] = [];
          let held = 0;
          let most = 0;
          const window = windowOf(written, { capacity, onWrite: (n) => (held -= n) });
          const reading = (async () => {
            for (let number = 1; number <= total; number++) {
              if (window.full) await window.space();
              most = Math.max(most, ++held);
              window.add(aRow({ number }), anItem, scheduler.schedule(Promise.resolve(aFinding())));
            }
            await window.drained();
          })();
          await scheduler.waitFor(reading);
          expect(written).toEqual(numbers(total));
          expect(most).toBeLessThanOrEqual(capacity);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("is full when the bytes of its rows reach the limit, but accepts one large row", () => {
    const window = windowOf([], { capacity: 100, capacityBytes: 50 });
    expect(window.full).toBe(false);
    window.add(aRow({ number: 1, size: 1_000 }), anItem, never());
    expect(window.full).toBe(true);
  });

  it("counts the bytes of large answers until their rows are written", async () => {
    let letWrite = (): void => undefined;
    const allowed = new Promise<void>((resolve) => (letWrite = resolve));
    const window = new RowWindow({
      capacity: 100,
      capacityUnsettled: 100,
      capacityBytes: 50,
      write: () => allowed,
    });
    window.add(
      aRow({ number: 1 }),
      anItem,
      aFinding({ answers: { query: { result: {}, bytes: 60 } } }),
    );
    expect(window.full).toBe(true);
    letWrite();
    await window.drained();
    expect(window.full).toBe(false);
  });

  it("is full at the maximum of pending lookups, however few rows wait", async () => {
    const window = windowOf([], { capacity: 100, capacityUnsettled: 2 });
    const first = Promise.resolve(aFinding());
    window.add(aRow({ number: 1 }), anItem, never());
    window.add(aRow({ number: 2 }), anItem, first);
    expect(window.full).toBe(true);
    await window.space();
    expect(window.full).toBe(false);
  });

  it("is full while enough lookups are queued", async () => {
    let onRoom: (() => void) | null = null;
    const slots = { crowded: true, onRoom: (listener: () => void) => (onRoom = listener) };
    const window = windowOf([], { capacity: 100, slots });
    expect(window.full).toBe(true);
    const room = window.space();
    slots.crowded = false;
    (onRoom as (() => void) | null)?.();
    await room;
    expect(window.full).toBe(false);
  });

  it("after a failure still writes finished rows in order, and none behind a gap", async () => {
    const written: number[] = [];
    const window = windowOf(written, { capacity: 10 });
    await failWithGap(window);
    expect(written).toEqual([1]);
  });
});

function windowOf(
  written: number[],
  options: {
    capacity: number;
    capacityUnsettled?: number;
    capacityBytes?: number;
    slots?: ConstructorParameters<typeof RowWindow>[0]["slots"];
    onWrite?: (n: number) => void;
  },
): RowWindow {
  return new RowWindow({
    capacity: options.capacity,
    capacityUnsettled: options.capacityUnsettled ?? 1_000_000,
    capacityBytes: options.capacityBytes ?? 1_000_000,
    slots: options.slots,
    write(rows: readonly EnrichedRow[]) {
      written.push(...rows.map(({ row }) => row.number));
      options.onWrite?.(rows.length);
      return Promise.resolve();
    },
  });
}

/** Adds three rows whose second lookup never ends, then fails. */
async function failWithGap(window: RowWindow): Promise<void> {
  window.add(aRow({ number: 1 }), anItem, Promise.resolve(aFinding()));
  window.add(aRow({ number: 2 }), anItem, never());
  window.add(aRow({ number: 3 }), anItem, Promise.resolve(aFinding()));
  window.fail(new Error("stop"));
  await Promise.resolve();
  await window.flush();
}

function numbers(total: number): number[] {
  return Array.from({ length: total }, (_, index) => index + 1);
}

function never(): Promise<Finding> {
  return new Promise(() => undefined);
}
