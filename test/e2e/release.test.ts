/** A release as scripts/release packs it, and what install.sh makes of it where nothing else is. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { version } from '../../package.json';
import { listPackages, writeSbom } from '../../scripts/bill-of-materials.ts';
import { pack, writeChecksums } from '../../scripts/release.ts';
import { parseObject } from '../support/helpers.ts';
import { makeTempDir } from '../support/temp.ts';
import { BINARY, startServer } from './binary.ts';

const ROOT = join(import.meta.dir, '../..');
/** What every Linux has: coreutils, and what Debian calls essential. Neither Bun nor npm, curl or wget. */
const TOOLS = [
  ...['basename', 'cat', 'chmod', 'chown', 'cmp', 'date', 'dirname', 'grep', 'gzip', 'head', 'id'],
  ...[
    'install',
    'ls',
    'mkdir',
    'mktemp',
    'mv',
    'rm',
    'rmdir',
    'sed',
    'sh',
    'sha256sum',
    'tail',
    'tar',
    'uname',
  ],
];
setDefaultTimeout(120_000);

const dir = makeTempDir();
/** Packed in place of the executable, and works as that does: packing and unpacking its 130 MB again and again is no other work. */
const program = join(dir, 'program');
const release = join(dir, 'release');
const home = join(dir, 'home');
let archive = '';
/** The archive as somebody unpacks it to have install.sh. */
let unpacked = '';

beforeAll(async () => {
  for (const folder of [release, home, join(dir, 'bin'), join(dir, 'tmp')]) mkdirSync(folder);
  for (const tool of TOOLS) symlinkSync(Bun.which(tool) ?? '', join(dir, 'bin', tool));
  writeFileSync(program, `#!/bin/sh\nexec '${BINARY}' "$@"\n`, { mode: 0o755 });
  archive = join(release, await pack('linux-x64', program, release));
  await writeChecksums(release);
  Bun.spawnSync(['tar', '-xzf', archive, '-C', dir]);
  unpacked = archive.replace('/release/', '/').replace('.tar.gz', '');
});

/** Runs install.sh on a machine that has nothing but the tools above. */
function install(args: string[], env: Record<string, string> = {}, cwd = unpacked) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([join(unpacked, 'install.sh'), ...args], {
    cwd,
    env: { PATH: join(dir, 'bin'), HOME: home, TMPDIR: join(dir, 'tmp'), ...env },
  });
  return { exit: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

/** A folder with this archive under its own name and, unless null, this SHA256SUMS. */
function download(name: string, bytes: Uint8Array | null, sums: string | null): string {
  const folder = join(dir, name);
  mkdirSync(folder);
  const file = join(folder, archive.replace(/.*\//, ''));
  if (bytes === null) copyFileSync(archive, file);
  else writeFileSync(file, bytes);
  if (sums !== null) writeFileSync(join(folder, 'SHA256SUMS'), sums);
  return file;
}

describe('install.sh --from', () => {
  test('installs into a prefix and upgrades there, with coreutils and an empty home', async () => {
    const prefix = join(dir, 'apps/satchel');
    const installed = install(['--from', `../release/${archive.replace(/.*\//, '')}`, '--prefix', prefix]);
    expect(installed).toMatchObject({ exit: 0, stderr: '' });
    expect(readFileSync(join(prefix, 'bin/satchel')).equals(readFileSync(program))).toBe(true);
    expect([readdirSync(home), readdirSync(join(dir, 'tmp'))]).toEqual([[], []]);

    const again = install([`--from=${archive}`, '--prefix', prefix]);
    expect([again.exit, again.stdout]).toEqual([0, expect.stringContaining('is installed already')]);

    const server = await startServer(join(prefix, 'data'));
    expect(await server.end('SIGTERM')).toBe(0);
    const older = `#!/bin/sh\n[ "$1" != version ] || { echo '{"version":"0.0.9","backend_version":"older"}'; exit; }\nexec ${BINARY} "$@"\n`;
    writeFileSync(join(prefix, 'bin/satchel'), older);
    const upgraded = install(['--from', archive, '--prefix', prefix]);
    expect([upgraded.exit, upgraded.stdout]).toEqual([
      0,
      expect.stringMatching(/^Upgrading Satchel 0\.0\.9 \(older\) to /),
    ]);
    expect(readdirSync(join(prefix, 'backups'))).toEqual([expect.stringMatching(/^before-upgrade-/)]);
    expect(install(['--uninstall', '--prefix', prefix])).toMatchObject({ exit: 0 });
    expect(existsSync(join(prefix, 'bin/satchel'))).toBe(false);
  });

  test('tells what is new under the version and the day of what it was built from', () => {
    const changes = readFileSync(join(unpacked, 'CHANGELOG.md'), 'utf8');
    expect(changes).toMatch(
      new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d\\d-\\d\\d$`, 'm'),
    );
    expect(changes).not.toContain('Unreleased');
  });

  test("puts a system service's files below DESTDIR", () => {
    const stage = join(dir, 'stage');
    expect(install(['--from', archive], { DESTDIR: stage })).toMatchObject({ exit: 0, stderr: '' });
    expect(statSync(join(stage, 'usr/local/bin/satchel')).mode & 0o777).toBe(0o755);
    for (const unit of ['satchel.service', 'satchel-backup.service', 'satchel-backup.timer'])
      expect(readFileSync(join(stage, 'etc/systemd/system', unit), 'utf8')).toBe(
        readFileSync(join(ROOT, 'scripts', unit), 'utf8'),
      );
  });

  test('refuses what is damaged, of another release, or for another machine, and installs nothing', async () => {
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8');
    const damaged = readFileSync(archive);
    const middle = damaged.length >> 1;
    damaged[middle] = (damaged[middle] ?? 0) ^ 1;
    const prefix = join(dir, 'nothing');
    const other = join(dir, 'other');
    mkdirSync(other);
    writeFileSync(join(dir, 'elsewhere'), '#!/nonexistent/ld.so\n', { mode: 0o755 });
    const foreign = join(other, await pack('linux-arm64', join(dir, 'elsewhere'), other));
    await writeChecksums(other);
    const refusals: [string, string][] = [
      [download('damaged', damaged, sums), 'is damaged'],
      [download('cut', damaged.subarray(0, 5_000), sums), 'is damaged'],
      [download('alone', null, null), 'There is no SHA256SUMS beside'],
      [download('older', null, sums.replace('0.1.0', '0.0.9')), 'does not name'],
      [download('empty', null, ''), 'does not name'],
      [join(dir, 'missing/satchel.tar.gz'), 'There is no file'],
      [foreign, 'does not run on this machine'],
    ];
    for (const [file, reason] of refusals) {
      const refused = install(['--from', file, '--prefix', prefix]);
      expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining(reason)]);
      expect(existsSync(join(prefix, 'bin'))).toBe(false);
    }
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
    const checkout = install(['--prefix', prefix]);
    expect([checkout.exit, checkout.stderr]).toEqual([1, expect.stringContaining('--from FILE')]);
    for (const wrong of [['--from'], ['--try', '--from', archive], ['--uninstall', '--from', archive]])
      expect(install(wrong)).toMatchObject({ exit: 2, stdout: '' });
  });

  test('asks a server for its health without curl', async () => {
    const own = /^wait_for_health\(\) \{.*?^\}$/ms.exec(readFileSync(join(ROOT, 'install.sh'), 'utf8'))?.[0];
    const ask = (host: string, port: number) =>
      Bun.spawn(['/bin/sh', '-c', `${own}\nwait_for_health '${BINARY}' 'http://${host}:${port}' '200 308'`], {
        env: { PATH: '', HEALTH_TIMEOUT_S: '1', http_proxy: 'http://127.0.0.1:1' },
      }).exited;
    const server = await startServer(makeTempDir());
    const ill = Bun.serve({ hostname: '::1', port: 0, fetch: () => new Response('', { status: 503 }) });
    const well = Bun.serve({ hostname: '::1', port: 0, fetch: () => new Response('') });
    const answers = [
      await ask('127.0.0.1', Number(new URL(server.url).port)),
      await ask('[::1]', Number(well.port)),
      await ask('[::1]', Number(ill.port)),
    ];
    await Promise.all([ill.stop(true), well.stop(true)]);
    expect([...answers, await ask('[::1]', Number(well.port))]).toEqual([0, 0, 1, 1]);
  });
});

test('the checksums are those of sha256sum, and an archive packed again is the same', async () => {
  const check = Bun.spawnSync(['sha256sum', '--check', '--strict', 'SHA256SUMS'], { cwd: release });
  expect(check.stdout.toString()).toMatch(/^satchel-\S+-linux-x64\.tar\.gz: OK\n$/);
  const twice = [join(dir, 'a'), join(dir, 'b')].map(async (folder) => {
    mkdirSync(folder);
    return readFileSync(join(folder, await pack('linux-x64', join(ROOT, 'install.sh'), folder)));
  });
  const [first, second] = await Promise.all(twice);
  expect(first?.equals(second ?? new Uint8Array())).toBe(true);
});

test('the bill of materials names every package that is installed, its licence and hash, and the runtime', async () => {
  // Of those that tests use alone, some name none.
  const packages = (await listPackages(ROOT)).filter(({ license }) => license !== '');
  const path = join(dir, 'bill.json');
  const at = { version: '1.2.3+2030.01.31.1', time: new Date('2030-01-31T00:00:00Z') };
  // As from two platforms.
  await writeSbom(path, [...packages, ...packages], at);
  const bill = () => parseObject(readFileSync(path, 'utf8'));
  expect(bill()).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: expect.stringMatching(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
    metadata: { component: { name: 'satchel', version: '1.2.3+2030.01.31.1' } },
    components: expect.arrayContaining([
      expect.objectContaining({ name: 'bun', version: Bun.version }),
      {
        type: 'library',
        'bom-ref': 'pkg:npm/%40node-rs/argon2@2.2.1',
        group: '@node-rs',
        name: 'argon2',
        version: '2.2.1',
        purl: 'pkg:npm/%40node-rs/argon2@2.2.1',
        licenses: [{ license: { id: 'MIT' } }],
        hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
      },
    ]),
  });
  const { components } = bill() as { components: { purl?: string }[] };
  const manifest = parseObject(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries(manifest.dependencies ?? {})) {
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    expect(components.filter((one) => one.purl === purl)).toHaveLength(1);
  }
});
