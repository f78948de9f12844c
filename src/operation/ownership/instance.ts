/**
 * Which Satchel this is: the file `instance` of the data directory. No backup or replica holds it. A copied
 * directory is another Satchel: the file tells by the machine and by its own inode.
 */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openOwn } from '../../platform/host/ownership.ts';
import { isPlainObject } from '../../platform/http/schema.ts';

const INSTANCE_FILE = 'instance';
/** Of Linux with systemd; elsewhere copies are told by the inode alone. */
const MACHINE_ID = '/etc/machine-id';

/** The id of a directory's Satchel; null before it has one, and in a copy. */
export function readInstance(data_dir: string, machine = machineId()): string | null {
  const path = join(data_dir, INSTANCE_FILE);
  try {
    const told: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!isPlainObject(told) || told.machine !== machine || told.inode !== statSync(path).ino) return null;
    return typeof told.id === 'string' && told.id !== '' ? told.id : null;
  } catch {
    return null;
  }
}

/** The id of a directory's Satchel, a new one where it has none. */
export function requireInstance(data_dir: string, machine = machineId()): string {
  const known = readInstance(data_dir, machine);
  if (known !== null) return known;
  const path = join(data_dir, INSTANCE_FILE);
  const id = crypto.randomUUID();
  const fd = openOwn(path);
  try {
    ftruncateSync(fd);
    writeSync(fd, `${JSON.stringify({ id, machine, inode: fstatSync(fd).ino })}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return id;
}

function machineId(): string {
  try {
    return readFileSync(MACHINE_ID, 'utf8').trim();
  } catch {
    return '';
  }
}
