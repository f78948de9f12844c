/** A server on a small file system of its own, which can be filled. */
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { addMailbox, makeKey, makeToken, type Server, startServer } from './binary.ts';

export const DISK_MIB = 32;

/** Mounting needs root and a mount namespace of one's own; without them these tests are skipped, and say so. */
export const canMount =
  Bun.spawnSync(['unshare', '-m', 'sh', '-c', `mount -t tmpfs -o size=1m none ${makeTempDir()}`]).exitCode ===
  0;
if (!canMount)
  process.stderr.write('a full disk: skipped, since no file system can be mounted here (needs root)\n');

export interface SmallDisk {
  server: Server;
  /** Where others see the data directory. */
  dir: string;
  /** Adds a domain and a mailbox with its relay at this port. */
  addMailbox(port: number): Promise<void>;
  key: string;
  /** Of an administrator. */
  token: string;
}

/** A server whose data directory is a file system of `DISK_MIB`, which ends with it. */
export async function startOnSmallDisk(env: Record<string, string>): Promise<SmallDisk> {
  const mount_point = makeTempDir();
  const script = `mount -t tmpfs -o size=${DISK_MIB}m none ${mount_point} && exec "$0" "$@"`;
  const server = await startServer(join(mount_point, 'data'), env, ['unshare', '-m', 'sh', '-c', script]);
  // Others see it through the process that has it mounted.
  const dir = `/proc/${server.pid}/root${mount_point}/data`;
  const inside = join(mount_point, 'data');
  const wrap = ['nsenter', '-m', '-t', String(server.pid)];
  return {
    server,
    dir,
    addMailbox: (port) => addMailbox(inside, port, wrap),
    key: await makeKey(inside, 'read,write,email', wrap),
    token: await makeToken(inside, wrap),
  };
}

/** Takes room that `freeDisk` gives back, however full the disk was before `fillDisk`. */
export function holdRoom(dir: string): void {
  writeFileSync(join(dir, '..', 'ballast-held'), Buffer.alloc(2 * 1024 * 1024, 'x'));
}

export function fillDisk(dir: string): void {
  const { bavail, bsize } = statfsSync(dir);
  // In pieces: the last one may be cut short, and that is all right.
  try {
    writeFileSync(join(dir, '..', 'ballast'), Buffer.alloc(bavail * bsize, 'x'));
    writeFileSync(join(dir, '..', 'ballast-end'), Buffer.alloc(1024 * 1024, 'x'));
  } catch {}
}

export function freeDisk(dir: string): void {
  rmSync(join(dir, '..', 'ballast'), { force: true });
  rmSync(join(dir, '..', 'ballast-end'), { force: true });
  rmSync(join(dir, '..', 'ballast-held'), { force: true });
}
