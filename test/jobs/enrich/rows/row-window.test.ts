import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../../../src/core/finding.js";
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
          expect(written).toEqual(Array.from({ length: total }, (_, index) => index + 1));
          expect(most).toBeLessThanOrEqual(capacity);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("is full when the bytes of its rows reach the limit, but accepts one large row", () => {
    const window = windowOf([], { capacityBytes: 50 });
    expect(window.full).toBe(false);
    window.add(aRow({ number: 1, size: 1_000 }), anItem, never());
    expect(window.full).toBe(true);
  });

  it("counts the bytes of large answers until their rows are written", async () => {
    let letWrite = (): void => undefined;
    const allowed = new Promise<void>((resolve) => (letWrite = resolve));
    const window = windowOf([], { capacityBytes: 50, write: () => allowed });
    const large = aFinding({ answers: { query: { result: {}, bytes: 60 } } });
    window.add(aRow({ number: 1 }), anItem, large);
    expect(window.full).toBe(true);
    letWrite();
    await window.drained();
    expect(window.full).toBe(false);
  });

  it("is full at the maximum of pending lookups, however few rows wait", async () => {
    const window = windowOf([], { capacityUnsettled: 2 });
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
    const window = windowOf([], { slots });
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
    window.add(aRow({ number: 1 }), anItem, Promise.resolve(aFinding()));
    window.add(aRow({ number: 2 }), anItem, never());
    window.add(aRow({ number: 3 }), anItem, Promise.resolve(aFinding()));
    window.fail(new Error("stop"));
    await Promise.resolve();
    await window.flush();
    expect(written).toEqual([1]);
  });
});

type WindowOptions = ConstructorParameters<typeof RowWindow>[0];

function windowOf(
  written: number[],
  options: Partial<WindowOptions> & { readonly onWrite?: (n: number) => void },
): RowWindow {
  const { onWrite, ...own } = options;
  return new RowWindow({
    capacity: 100,
    capacityUnsettled: 1_000_000,
    capacityBytes: 1_000_000,
    write(rows) {
      written.push(...rows.map(({ row }) => row.number));
      onWrite?.(rows.length);
      return Promise.resolve();
    },
    ...own,
  });
}

function never(): Promise<Finding> {
  return new Promise(() => undefined);
}
