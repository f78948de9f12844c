/** What text from outside must be to stand in a header of a mail. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for.
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Whether a text has line breaks or control characters, which could begin another header; tabs are fine. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text);
}

/** The text on one line, without control characters, which files and forms may hold and a header may not. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
