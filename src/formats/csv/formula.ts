/** Whether a spreadsheet would run a cell, by its first character (OWASP, CSV Injection). */
export function runsAsFormula(cell: string): boolean {
  const code = cell.charCodeAt(0);
  return (
    code === 0x3d || code === 0x2b || code === 0x2d || code === 0x40 || code === 9 || code === 13
  );
}

/** A cell that a spreadsheet shows as it is, however it begins. */
export function withoutFormula(cell: string): string {
  return runsAsFormula(cell) ? `'${cell}` : cell;
}
