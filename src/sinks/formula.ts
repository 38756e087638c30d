/** Whether a spreadsheet would run a cell, by its first character (OWASP, CSV Injection). */
export function runsAsFormula(cell: string): boolean {
  const code = cell.charCodeAt(0);
  return (
    code === 0x3d || code === 0x2b || code === 0x2d || code === 0x40 || code === 9 || code === 13
  );
}
