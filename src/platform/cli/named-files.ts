/** Files that a command names: read with the powers of who runs it, whoever root acts as in the data directory. */
import { createReadStream, openSync, readFileSync } from 'node:fs';
import { asCaller } from '../host/ownership.ts';

export function readNamedFile(path: string): Buffer {
  return asCaller(() => readFileSync(path));
}

/** The bytes as they are read. Throws at the first where the file can't be opened. */
export async function* streamNamedFile(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, { fd: asCaller(() => openSync(path, 'r')) });
}
