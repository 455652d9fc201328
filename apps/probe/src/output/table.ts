/** Lines of cells below each other, separated by two blanks. Marks of a terminal and blanks at the end take no room. */
export function table(rows: readonly (readonly string[])[], aligned: readonly ('left' | 'right')[]): string {
  const widths = aligned.map((_, column) => Math.max(0, ...rows.map((row) => shownWidth(row[column] ?? ''))))
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const room = ' '.repeat(Math.max(0, (widths[column] ?? 0) - shownWidth(cell)))
          return aligned[column] === 'right' ? `${room}${cell}` : `${cell}${room}`
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Columns of a text on a terminal, near enough: wide characters count twice, combining ones not at all. */
function shownWidth(text: string): number {
  // oxlint-disable-next-line no-control-regex -- these are our own marks
  const plain = text.replace(/\u001b\[\d*m/g, '')
  let width = 0
  for (const character of plain) {
    if (/^\p{Mark}$/u.test(character)) continue
    width +=
      /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u.test(
        character,
      )
        ? 2
        : 1
  }
  return width
}
