import { describe, expect, test } from 'bun:test';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireDatabase } from '../../../src/platform/host/database-file.ts';
import { lockDirectory } from '../../../src/platform/host/directory-lock.ts';
import {
  findInstalledService,
  SERVICE_PATHS,
  servicePathsOf,
} from '../../../src/platform/host/installed-service.ts';
import { touchWakeFile } from '../../../src/platform/host/server-note.ts';
import { makeTempDir } from '../../support/temp.ts';

function install(settings: string | null) {
  const dir = makeTempDir();
  const paths = { data_dir: join(dir, 'data'), settings: join(dir, 'satchel.env'), has_own_folder: false };
  mkdirSync(paths.data_dir);
  if (settings !== null) writeFileSync(paths.settings, settings);
  const { uid, gid } = statSync(paths.data_dir);
  return { paths, uid, gid };
}

const STRANGER = { uid: 65_534, gids: [65_534] };

describe('the installed service', () => {
  test('is found by root, its user and its group, and by nobody else', () => {
    const { paths, uid, gid } = install(null);
    const found = { data_dir: paths.data_dir };
    expect(findInstalledService(paths, { uid: 0, gids: [] })).toMatchObject(found);
    expect(findInstalledService(paths, { uid, gids: [] })).toMatchObject(found);
    expect(findInstalledService(paths, { uid: 4_711, gids: [4_711, gid] })).toMatchObject(found);
    expect(findInstalledService(paths, STRANGER)).toBeNull();
    expect(
      findInstalledService({ ...paths, data_dir: `${paths.data_dir}-not` }, { uid: 0, gids: [] }),
    ).toBeNull();
  });

  test('has the settings that systemd gives it', () => {
    const { paths } = install(
      '# A comment\n#SATCHEL_PORT=1\nSATCHEL_PASSPHRASE="two words"\nSATCHEL_ENV=staging\n',
    );
    expect(findInstalledService(paths, { uid: 0, gids: [] })?.readSettings()).toEqual({
      SATCHEL_PASSPHRASE: 'two words',
      SATCHEL_ENV: 'staging',
      SATCHEL_DATA_DIR: paths.data_dir,
    });
  });

  test('whose settings may not be read is told so, instead of used without them', () => {
    const { paths } = install(null);
    writeFileSync(paths.settings, 'SATCHEL_ENV=a\nexport SATCHEL_PORT=1\n');
    expect(findInstalledService(paths, { uid: 0, gids: [] })?.readSettings()).toMatchObject({
      SATCHEL_ENV: 'a',
    });
    const own = findInstalledService({ ...paths, has_own_folder: true }, { uid: 0, gids: [] });
    expect(() => own?.readSettings()).toThrow(`${paths.settings}, line 2: `);
    rmSync(paths.settings);
    mkdirSync(paths.settings);
    expect(() => findInstalledService(paths, { uid: 0, gids: [] })?.readSettings()).toThrow(/EISDIR.*sudo/);
  });

  test("of a program in a folder of its own is that folder's", () => {
    const prefix = makeTempDir();
    const program = join(prefix, 'bin/satchel');
    expect(servicePathsOf(program)).toEqual(SERVICE_PATHS);
    mkdirSync(join(prefix, 'etc'));
    writeFileSync(join(prefix, 'etc/satchel.env'), '');
    expect(servicePathsOf(program)).toEqual({
      data_dir: join(prefix, 'data'),
      settings: join(prefix, 'etc/satchel.env'),
      has_own_folder: true,
    });
    // Its data may be lost, and about to be restored.
    const found = findInstalledService(servicePathsOf(program), { uid: 0, gids: [] });
    expect(found).toMatchObject({ data_dir: join(prefix, 'data'), has_own_folder: true });
  });

  test('is named to whoever is elsewhere', () => {
    const { paths } = install(null);
    const elsewhere = makeTempDir();
    const refusal = (service: typeof paths) => {
      try {
        return requireDatabase(elsewhere, service);
      } catch (error) {
        return String(error);
      }
    };
    expect(refusal(paths)).toContain(`The installed service's is ${paths.data_dir}`);
    expect(refusal({ ...paths, data_dir: elsewhere })).not.toContain('installed');
    expect(refusal({ ...paths, data_dir: '/nonexistent' })).not.toContain('installed');
  });
});

test.if(process.getuid?.() === 0)('what root makes in its directory is its own', () => {
  const { paths } = install(null);
  const { data_dir } = paths;
  Bun.spawnSync(['chown', `${STRANGER.uid}:${STRANGER.uid}`, data_dir]);
  touchWakeFile(data_dir, 1);
  lockDirectory(data_dir, 1).release();
  for (const file of ['wake', 'server.lock', 'server.pid'])
    expect({ file, uid: statSync(join(data_dir, file)).uid }).toEqual({ file, uid: STRANGER.uid });
});
