/** Has the browser save what was fetched: a link to an endpoint could not say that the request is the console's. */

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
