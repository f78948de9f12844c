/** Has the browser save a text that the page itself has. What an endpoint answers is saved by `<FileLink>`. */

/** Long enough for any browser to have taken the file. */
const TAKEN_MS = 60_000;

export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TAKEN_MS);
}
