/** Makes text from outside fit for a header of a mail. */

/** The text on one line, without control characters, which files and forms may hold and a header may not. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
