/**
 * Saving what the API answers as a file. It needs the console's header, so no link does it: the bytes go to the file as they
 * come where the browser lets a page write one, else they are gathered first, and the browser saves them.
 */

interface WritableFile {
  createWritable(): Promise<WritableStream<Uint8Array>>;
}

interface SavePicker {
  showSaveFilePicker(options: { suggestedName: string }): Promise<WritableFile>;
}

function hasPicker(of: object): of is SavePicker {
  return 'showSaveFilePicker' in of && typeof of.showSaveFilePicker === 'function';
}

export interface Saving {
  name: string;
  signal: AbortSignal;
  /** Bytes so far. */
  onProgress(bytes: number): void;
}

/**
 * Asks where to, then for the bytes: a click allows the first for a moment only. False where the person chose no place. Throws what
 * `open` throws, and AbortError where it was canceled.
 */
export async function saveFile(open: () => Promise<Response>, saving: Saving): Promise<boolean> {
  const place = await choosePlace(saving.name);
  if (place === null) return false;
  const { body } = await open();
  if (!body) return false;
  if (place === 'downloads') await gather(body, saving);
  else await body.pipeThrough(counting(saving)).pipeTo(await place.createWritable(), saving);
  return true;
}

/** Null where the person chose none. */
async function choosePlace(name: string): Promise<WritableFile | 'downloads' | null> {
  if (!hasPicker(window)) return 'downloads';
  try {
    return await window.showSaveFilePicker({ suggestedName: name });
  } catch (error) {
    return isAbort(error) ? null : 'downloads';
  }
}

async function gather(body: ReadableStream<Uint8Array>, saving: Saving): Promise<void> {
  const { signal, name } = saving;
  const parts: BlobPart[] = [];
  const sink = new WritableStream<Uint8Array<ArrayBuffer>>({
    write: (part) => {
      parts.push(part);
    },
  });
  await body.pipeThrough(counting(saving)).pipeTo(sink, { signal });
  const url = URL.createObjectURL(new Blob(parts));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function counting({ onProgress }: Saving): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform(part: Uint8Array<ArrayBuffer>, to) {
      bytes += part.byteLength;
      onProgress(bytes);
      to.enqueue(part);
    },
  });
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
