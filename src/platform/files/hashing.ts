/** Hashes a file that is there. It takes about a second for each gigabyte: for threads and commands. */

/** SHA-256 in lower-case hex. */
export async function hashFile(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk);
  return hasher.digest('hex');
}
