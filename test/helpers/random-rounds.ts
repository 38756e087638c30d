/** Rounds of a property: all of them in the long suite, the first fifth in the quick one. */
export function randomRounds(all: number): { readonly numRuns: number } {
  return { numRuns: process.env["TEST_ALL_ROUNDS"] === "true" ? all : Math.ceil(all / 5) };
}
