import { expect, test, vi } from "vitest";
import { CommitQueue } from "../../../../src/store/cache/commit-queue.js";

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

function queue(write: (items: readonly number[]) => Promise<void>): CommitQueue<number> {
  return new CommitQueue({ size: 3, delayMs: 60_000, write });
}

test("so many are written together without waiting", async () => {
  const written: (readonly number[])[] = [];
  const commits = queue((items) => Promise.resolve(void written.push([...items])));
  await Promise.all([1, 2, 3].map((n) => commits.add(n)));
  expect(written).toEqual([[1, 2, 3]]);
});

test("fewer are written when they have waited", async () => {
  vi.useFakeTimers();
  try {
    const written: (readonly number[])[] = [];
    const commits = queue((items) => Promise.resolve(void written.push([...items])));
    const done = commits.add(1);
    await vi.advanceTimersByTimeAsync(60_000);
    await done;
    expect(written).toEqual([[1]]);
  } finally {
    vi.useRealTimers();
  }
});

test("what comes during a write is written after it, and nothing at the same time", async () => {
  const first = gate();
  let writing = 0;
  let most = 0;
  const written: (readonly number[])[] = [];
  const commits = queue(async (items) => {
    most = Math.max(most, ++writing);
    if (written.push([...items]) === 1) await first.opened;
    writing--;
  });
  const added = [1, 2, 3, 4, 5, 6, 7].map((n) => commits.add(n));
  const between = commits.between(() => Promise.resolve((most = Math.max(most, writing + 1))));
  first.open();
  await commits.flush();
  await Promise.all([...added, between]);
  expect([written, most]).toEqual([
    [
      [1, 2, 3],
      [4, 5, 6, 7],
    ],
    1,
  ]);
});

test("who waits is told that it could not be written, and the next are written", async () => {
  const commits = queue((items) =>
    items.includes(1) ? Promise.reject(new Error("no")) : Promise.resolve(),
  );
  const refused = commits.add(1);
  await expect(commits.flush()).rejects.toThrow("no");
  await expect(refused).rejects.toThrow("no");
  const next = commits.add(2);
  await commits.flush();
  await expect(next).resolves.toBeUndefined();
});

test("flushing nothing waits for what is being written", async () => {
  const open = gate();
  let done = false;
  const commits = queue(async () => {
    await open.opened;
    done = true;
  });
  void commits.add(1).catch(() => undefined);
  const [first, second] = [commits.flush(), commits.flush()];
  open.open();
  await second;
  expect(done).toBe(true);
  await first;
});
