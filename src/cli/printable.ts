/**
 * Replaces control characters other than the line feed, so that what a service or an input holds
 * cannot steer the terminal that it is shown on.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, "\uFFFD");
}
