/** Gives files that root makes in a service's data directory to the service, which must open them. */
import { chownSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Gives a file that this process made to the owner of its folder. Does nothing unless root runs this. */
export function giveToFolderOwner(path: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  chownSync(path, uid, gid);
}
