/** Text from outside, on its way into a header of a mail. */

/** On one line, as files and forms hold line breaks and control characters that no header may. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
