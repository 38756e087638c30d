/** The name of a file of a data set without the identifier that tells it from those of other runs. */
export function withoutId(name: string): string {
  return name.replace(/(part-\d{5})-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\./, "$1-ID.");
}
