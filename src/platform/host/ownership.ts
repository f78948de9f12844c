/**
 * Root at work in a directory of another user, such as a service's. That user may put a link where a file of ours belongs, or
 * in place of a folder, at any moment, and root would make and change what it leads to. So root acts there as that user: the
 * kernel then refuses what they may not do themselves, and what is made is theirs from its first moment. Where that can't be,
 * `openOwn` at least follows no link, and gives them what it opens.
 *
 * The ids are the whole process's. Root's own come back for one synchronous look or change at a time.
 */
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '../../errors.ts';

interface Ids {
  uid: number;
  gid: number;
  groups: number[];
}

/** Whom root acts as, and what it was. */
let acting: { owner: Ids; root: Ids } | null = null;

/**
 * Has root act as the owner of a data directory from now on, but within `asCaller`. Does nothing for other
 * users, where the directory is root's or there is none, and where its owner could not reach it. Throws
 * AppError `invalid` for a link where a file of ours belongs.
 */
export function actAsOwner(data_dir: string): void {
  const root = ownIds();
  const owner = becomeOwner(data_dir);
  if (owner) acting = { owner, root };
}

/** As `actAsOwner`, for good and for all that this process starts. Returns the user; null where nothing changed. */
export function becomeOwnerForGood(data_dir: string): number | null {
  const owner = becomeOwner(data_dir);
  if (!owner) return null;
  // Only root may give up its real id.
  process.seteuid?.(0);
  process.setgid?.(owner.gid);
  process.setuid?.(owner.uid);
  return owner.uid;
}

/** One look at a data directory, or change of it, as its owner where root runs this. */
export function asOwner<T>(data_dir: string, run: () => T): T {
  const root = ownIds();
  const owner = becomeOwner(data_dir);
  try {
    return run();
  } finally {
    if (owner) take(root);
  }
}

/**
 * Opens a file of ours in a data directory for writing, or makes it. One that root makes is given to the owner
 * of its folder. `also` are more flags, such as O_APPEND. Throws AppError `invalid`, for root, for a link and for another user's
 * file.
 */
export function openOwn(path: string, also = 0): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | also;
  if (process.geteuid?.() !== 0) return openSync(path, flags, 0o600);
  const fd = openUnlinked(path, flags);
  try {
    give(fd, path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Gives a folder that root has made to the owner of the one that it is in. */
export function giveFolder(path: string): void {
  if (process.geteuid?.() !== 0) return;
  const fd = openUnlinked(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    give(fd, path);
  } finally {
    closeSync(fd);
  }
}

function openUnlinked(path: string, flags: number): number {
  try {
    return openSync(path, flags | constants.O_NOFOLLOW, 0o600);
  } catch (error) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw notOurs(path, 'is a symbolic link');
    throw error;
  }
}

/** What root has there is given away, but no other user's file, and no content that may have been elsewhere. */
function give(fd: number, path: string): void {
  const { uid, gid } = statSync(dirname(path));
  const stat = fstatSync(fd);
  if (stat.uid === uid) return;
  const has_one_name = stat.isDirectory() || (stat.isFile() && stat.nlink === 1);
  if (stat.uid !== 0 || !has_one_name) throw notOurs(path, 'is of another user than its folder');
  if (stat.isFile()) ftruncateSync(fd);
  fchownSync(fd, uid, gid);
}

/** One look as who runs this command: at a file that they named, say, which only they may read. */
export function asCaller<T>(run: () => T): T {
  if (!acting || process.geteuid?.() === 0) return run();
  const { owner, root } = acting;
  take(root);
  try {
    return run();
  } finally {
    take(owner);
  }
}

/** As `asCaller`, a change at a path that they named; as the owner where that leads through a folder of theirs. */
export function asCallerAt<T>(path: string, run: () => T): T {
  return leadsToOwner(path) ? run() : asCaller(run);
}

/** Ends acting as the owner for a verb that works at another place, unless that leads through a folder of theirs. */
export function actAsCallerAt(path: string): void {
  if (!acting || leadsToOwner(path)) return;
  take(acting.root);
  acting = null;
}

/** Whether the owner may have put something else on the way to a path. */
function leadsToOwner(path: string): boolean {
  if (!acting) return false;
  const { uid } = acting.owner;
  const isTheirs = (folder: string): boolean => lstatSync(folder, { throwIfNoEntry: false })?.uid === uid;
  return asCaller(() => [resolve(path), realPathOf(path)].some((way) => foldersOf(way).some(isTheirs)));
}

/** Those that a path leads through, and itself where it is one. */
function foldersOf(path: string): string[] {
  const above = dirname(path);
  const folders = above === path ? [] : [...foldersOf(above), above];
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ? [...folders, path] : folders;
}

/** Of what is not there: where it would be. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const whole = resolve(path);
    return whole === dirname(whole) ? whole : join(realPathOf(dirname(whole)), basename(whole));
  }
}

/** Owners of directories that were looked at: a backup acts as one for each file. */
const owners = new Map<string, Ids>();

/** Returns whom root became; null where it stays who it is. */
function becomeOwner(data_dir: string): Ids | null {
  if (process.geteuid?.() !== 0) return null;
  const known = owners.get(data_dir);
  if (known) {
    take(known);
    return known;
  }
  const stat = statSync(data_dir, { throwIfNoEntry: false });
  if (!stat?.isDirectory() || stat.uid === 0) return null;
  const root = ownIds();
  const owner = { uid: stat.uid, gid: stat.gid, groups: groupsOf(stat) };
  try {
    take(owner);
    refuseLinks(data_dir);
    owners.set(data_dir, owner);
    return owner;
  } catch (error) {
    if (process.geteuid?.() !== 0) take(root);
    if (error instanceof AppError) throw error;
    // They can't reach it on this way, or root is not free to be somebody else.
    refuseLinks(data_dir);
    return null;
  }
}

function ownIds(): Ids {
  return {
    uid: process.geteuid?.() ?? -1,
    gid: process.getegid?.() ?? -1,
    groups: process.getgroups?.() ?? [],
  };
}

/** Those that a service of that user has. */
function groupsOf({ uid, gid }: { uid: number; gid: number }): number[] {
  const name = accountName(uid);
  return [gid, ...(name === null ? [] : groupsOfAccount(name))];
}

/** Root's id first where it comes back, and last where it goes: it is what may change the others. */
function take({ uid, gid, groups }: Ids): void {
  process.seteuid?.(0);
  process.setgroups?.(groups);
  process.setegid?.(gid);
  process.seteuid?.(uid);
}

/** Files that an operator may have moved elsewhere, as any folder. A link that root made says so. */
const MOVABLE: readonly string[] = ['satchel.db', 'master.key'];

/**
 * Throws AppError `invalid` for a link in the directory, or among the certificates. Acting as the owner harms
 * nobody without this: but what a command is to make would be elsewhere.
 */
function refuseLinks(data_dir: string): void {
  const tls = join(data_dir, 'tls');
  const paths = [data_dir, tls].flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
  const link = paths.find((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isSymbolicLink() && !(stat.uid === 0 && isMoved(path));
  });
  if (link !== undefined) throw notOurs(link, 'is a symbolic link');
}

function notOurs(path: string, what: string): AppError {
  return new AppError(
    'invalid',
    `${path} ${what}, where a file of Satchel's own belongs, and is left alone: root would change what is not Satchel's. ` +
      'Look what it is, and remove it.',
  );
}

/** But those that begin with a dot: the directory is its user's home too. */
function namesIn(folder: string): string[] {
  const is_there = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory();
  return is_there ? readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
}

function isMoved(path: string): boolean {
  try {
    return MOVABLE.includes(basename(path)) || statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** The numbers of the groups that list an account; see group(5). */
export function groupsOfAccount(name: string): number[] {
  try {
    const groups = readFileSync('/etc/group', 'utf8').split('\n');
    return groups.flatMap((line) => {
      const [, , gid, members = ''] = line.split(':');
      return members.split(',').includes(name) ? [Number(gid)] : [];
    });
  } catch {
    return [];
  }
}

/** The account's name by its number. `userInfo` trusts the variable USER, which cron lacks. */
export function accountName(uid: number): string | null {
  try {
    const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
    const fields = accounts.map((line) => line.split(':')).find((each) => each[2] === String(uid));
    return fields?.[0] || null;
  } catch {
    return null; // Not every system has the file, and a directory service's accounts are not in it.
  }
}
