/**
 * What `satchel doctor` sees without opening a database: modes, owners and room of the data directory, and the
 * file of settings that systemd reads for the installed service.
 */
import { existsSync, lstatSync, readdirSync, type Stats, statfsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FINDING_EXAMPLES } from '../../limits.ts';
import { parseEnvFile, readEnvFile } from '../../platform/host/env-file.ts';
import {
  aside,
  type Finding,
  type HealthCheck,
  isOpenToOthers,
  ok,
  problem,
  warning,
} from '../../platform/host/health-check.ts';
import { type InstalledService, isSameFolder } from '../../platform/host/installed-service.ts';
import { asCaller } from '../../platform/host/ownership.ts';
import { shellWord } from '../../platform/words/phrases.ts';

/** Below this `doctor` warns: room for some hundred uploads of the default limit, so there is time to act. */
const LOW_DISK_BYTES = 1024 ** 3;
/** Below this it is a problem: nightly backups and uploads fill that within a day. */
const SCARCE_DISK_BYTES = 500 * 1024 ** 2;

/** Modes and owners of the directory, of what stands in it, and of the folders of the objects. */
export function checkModes(data_dir: string): Finding[] {
  const check = 'file modes';
  const top = lstatSync(data_dir);
  const paths = [data_dir, ...readdirSync(data_dir).map((name) => join(data_dir, name))];
  const objects = join(data_dir, 'objects');
  if (existsSync(objects)) paths.push(...readdirSync(objects).map((name) => join(objects, name)));
  const stats = paths.flatMap((path) => {
    // A journal may be gone since the folder was read.
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat || stat.isSymbolicLink() || isPlaceholder(path, stat)) return [];
    return [{ path, stat }];
  });
  const open = stats.filter(({ stat }) => isOpenToOthers(stat)).map(({ path }) => path);
  const foreign = stats.filter(({ stat }) => stat.uid !== top.uid).map(({ path }) => path);
  const findings: Finding[] = [];
  if (open.length > 0) {
    const message = `Other users of this machine may get at: ${listSome(open)}.`;
    findings.push(problem(check, message, `chmod -R go-rwx ${shellWord(data_dir)}`));
  }
  if (foreign.length > 0) {
    const message = `The owner of the directory does not own: ${listSome(foreign)}. The server may be unable to use it.`;
    findings.push(
      aside('owner', problem(check, message, `chown -R ${top.uid}:${top.gid} ${shellWord(data_dir)}`)),
    );
  }
  if (findings.length > 0) return findings;
  return [ok(check, 'Only the owner may read or write anything.')];
}

/** Such as .gitkeep, which keeps a folder in a repository: it holds no data and gives nothing away. */
function isPlaceholder(path: string, stat: Stats): boolean {
  return basename(path).startsWith('.') && stat.isFile() && stat.size === 0;
}

const DISK = 'disk space';

/** How much room there is. Long before writes are refused somebody should act. */
export function diskCheck(data_dir: string): HealthCheck {
  return { check: DISK, run: () => [checkDisk(data_dir)] };
}

function checkDisk(data_dir: string): Finding {
  const { bavail, bsize } = statfsSync(data_dir);
  const free = bavail * bsize;
  const message = `${Math.floor(free / 1024 / 1024)} MiB are free.`;
  if (free >= LOW_DISK_BYTES) return ok(DISK, message);
  const tell = free < SCARCE_DISK_BYTES ? problem : warning;
  return tell(DISK, message, `du -x -h -d 2 ${shellWord(data_dir)}, and make room on that disk`);
}

function listSome(paths: readonly string[]): string {
  const rest = paths.length - FINDING_EXAMPLES;
  return paths.slice(0, FINDING_EXAMPLES).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/**
 * A warning for lines that systemd ignores, whose settings are then not in force. Nothing for who may not read
 * the file, for another directory than the service's, and for a folder's own file, whose lines stop the server.
 */
export function checkEnvFile(service: InstalledService | null, data_dir: string): Finding[] {
  if (!service || service.has_own_folder || !isSameFolder(service.data_dir, data_dir)) return [];
  const { settings } = service;
  let text: string;
  try {
    text = asCaller(() => readEnvFile(settings));
  } catch {
    return [];
  }
  const { ignored, doubtful } = parseEnvFile(text);
  const lines = [...ignored, ...doubtful].map(({ line, reason }) => `line ${line} (${reason})`);
  if (lines.length === 0) return [];
  const message = `systemd ignores what it can't read in ${settings}: ${lines.join(', ')}.`;
  return [warning('settings', message, `sudoedit ${shellWord(settings)}, then systemctl restart satchel`)];
}
