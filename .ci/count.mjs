// Adds up the runner's JSON reports, repeats what failed, and closes with the one line that counts.
import { readFileSync } from "node:fs";

let passed = 0;
let failed = 0;
let skipped = 0;
for (const path of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(path, "utf8"));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  skipped += report.numPendingTests + report.numTodoTests;
  for (const file of report.testResults) {
    // A file that could not even be loaded has no tests to fail.
    if (file.status === "failed" && file.assertionResults.length === 0) {
      failed += 1;
      process.stdout.write(`\nFAILED ${file.name}\n${file.message}\n`);
    }
    for (const test of file.assertionResults.filter(({ status }) => status === "failed")) {
      process.stdout.write(
        `\nFAILED ${file.name}: ${test.fullName}\n${test.failureMessages.join("\n")}\n`,
      );
    }
  }
}
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
