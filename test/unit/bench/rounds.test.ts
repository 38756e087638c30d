import { expect, test } from "vitest";
import { inTurn } from "../../bench/rounds.mjs";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

test("contestants alternate, each is prepared, and those not installed are skipped", async () => {
  const seen: string[] = [];
  const contestant = (name: string, command: readonly string[] | null) => ({
    name,
    rows: 1,
    command,
    prepare: async () => void seen.push(`prepare ${name}`),
  });
  const standings = await inTurn(
    [contestant("a", ["true"]), contestant("b", ["true"]), contestant("c", null)],
    { repeat: 2, folder: await temporaryFolder(), onRun: (text) => seen.push(text) },
  );
  const order =
    "a, 1 of 2; prepare a; b, 1 of 2; prepare b; a, 2 of 2; prepare a; b, 2 of 2; prepare b";
  expect(seen.join("; ")).toBe(order);
  expect(standings.map(({ runs }) => runs.length)).toEqual([2, 2, 0]);
});
