/**
 * The image, without Docker: what its Dockerfile says is read, and done by hand in a folder. As there, the root is read-only, the
 * server is the first process, of a user that owns nothing but its data, and the environment is the image's.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pack, writeChecksums } from '../../scripts/release.ts';
import { loadConfig } from '../../src/config.ts';
import { STOP_MAILER_DEADLINE_MS, STOP_REQUESTS_DEADLINE_MS } from '../../src/limits.ts';
import { blocksOf, guide } from '../support/documents.ts';
import { makeTempDir } from '../support/temp.ts';
import { BINARY, type Server, startServer } from './binary.ts';
import { canMount } from './small-disk.ts';

setDefaultTimeout(120_000);

const FOLDER = join(import.meta.dir, '../../scripts/container');
const MODULES = join(import.meta.dir, '../../node_modules');
const [UID, GID] = [10_001, 10_001];

/** Its instructions, by the name of their stage. */
function readDockerfile(): Map<string, [instruction: string, rest: string][]> {
  const lines = readFileSync(join(FOLDER, 'Dockerfile'), 'utf8')
    .replace(/^#.*\n/gm, '')
    .replaceAll('\\\n', '')
    .split('\n');
  const stages = new Map<string, [string, string][]>();
  for (const line of lines) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === 'FROM') stages.set(rest.split(' AS ')[1] ?? '', []);
    if (instruction !== '') [...stages.values()].at(-1)?.push([instruction, rest]);
  }
  return stages;
}

const STAGES = readDockerfile();
/** What an instruction of a stage says. */
const say = (instruction: string, stage = 'base'): string =>
  STAGES.get(stage)?.find(([name]) => name === instruction)?.[1] ?? '';
const commandOf = (text: string): string[] => JSON.parse(text.slice(text.indexOf('[')));
const ENV = Object.fromEntries(
  say('ENV')
    .split(' ')
    .map((pair) => pair.split('=', 2)),
);
const HEALTHCHECK = commandOf(say('HEALTHCHECK'));

/* --- What it says ------------------------------------------------------------------------------------------------- */

describe('the image', () => {
  test('is one for a release and for a checkout, which differ by the executable alone', () => {
    const from = [...STAGES].map(([name]) => [name, say('FROM', name).split(' ')[0]]);
    const debian = 'debian:trixie-slim';
    expect(Object.fromEntries(from)).toEqual({
      ...{ base: debian, compiled: debian, unpacked: debian },
      ...{ build: 'base', release: 'base' },
    });
    expect([...STAGES.keys()].at(-1)).toBe('release');
    for (const name of ['build', 'release'])
      expect(STAGES.get(name)?.slice(1)).toEqual([
        ['COPY', expect.stringMatching(/^--from=\S+ \S+\/satchel \/usr\/local\/bin\/satchel$/)],
      ]);
    // What a checkout is built from is there.
    const copied = (STAGES.get('compiled') ?? []).flatMap(([instruction, rest]) =>
      instruction === 'COPY' ? rest.split(' ').slice(0, -1) : [],
    );
    expect(copied.filter((part) => !existsSync(join(FOLDER, '../..', part)))).toEqual([]);
  });

  test('has the user, folders and port that the program takes', () => {
    const { data_dir, host, port } = loadConfig(ENV);
    expect([data_dir, host, ENV.TMPDIR]).toEqual([say('VOLUME'), '0.0.0.0', join(data_dir, 'tmp')]);
    expect([say('EXPOSE'), say('USER'), say('STOPSIGNAL')]).toEqual([
      String(port),
      `${UID}:${GID}`,
      'SIGTERM',
    ]);
    expect([...commandOf(say('ENTRYPOINT')), ...commandOf(say('CMD'))]).toEqual(['satchel', 'serve']);
    expect(say('RUN')).toContain(`useradd --uid ${UID} --gid ${GID} `);
    expect(say('RUN')).toContain(`install --directory --owner ${UID} --group ${GID} --mode 0700 ${data_dir}`);
    // What is left of the ten seconds that Docker gives a stop is for what ends after these.
    expect(STOP_REQUESTS_DEADLINE_MS + STOP_MAILER_DEADLINE_MS).toBeLessThanOrEqual(6_500);
    // Docker must wait for longer than the command does.
    expect([HEALTHCHECK, say('HEALTHCHECK')]).toEqual([
      ['satchel', 'health'],
      expect.stringContaining('--timeout=10s'),
    ]);
  });

  test('is what compose runs alone: read-only, behind a proxy, its data in a volume with a name', () => {
    const text = readFileSync(join(FOLDER, 'compose.yaml'), 'utf8');
    // A default, none, or a refusal that says what is missing.
    const environment = Object.fromEntries(
      ['PUBLIC_URL:\\?.+', 'WELCOME_TOKEN:-', 'TRUSTED_PROXIES:-.+'].map((given) => {
        const [name = ''] = given.split(':');
        return [`SATCHEL_${name}`, expect.stringMatching(new RegExp(`^\\$\\{SATCHEL_${given}\\}$`))];
      }),
    );
    const volumes = [`data:${say('VOLUME')}`];
    const ports = [`127.0.0.1:${say('EXPOSE')}:${say('EXPOSE')}`];
    expect(Bun.YAML.parse(text)).toMatchObject({
      services: { satchel: { build: '.', read_only: true, environment, volumes, ports } },
      volumes: { data: null },
    });
    const proxies = /SATCHEL_TRUSTED_PROXIES:-([^}]*)/.exec(text)?.[1];
    const token = 'a'.repeat(32);
    const settings = { SATCHEL_TRUSTED_PROXIES: proxies, SATCHEL_WELCOME_TOKEN: token };
    expect(loadConfig({ ...settings, SATCHEL_PUBLIC_URL: 'satchel.example.com' })).toMatchObject({
      public_url: 'https://satchel.example.com',
      trusted_proxies: ['172.16.0.0/12', '192.168.0.0/16'],
    });
    // The guide's compose for Coolify mounts the same, and has no setting that there is not.
    const [coolify = ''] = blocksOf(guide('container'), 'yaml');
    expect(Bun.YAML.parse(coolify)).toMatchObject({ services: { satchel: { read_only: true, volumes } } });
    expect(() =>
      loadConfig(Object.fromEntries(coolify.match(/SATCHEL_\w+(?==)/g)?.map((name) => [name, '']) ?? [])),
    ).not.toThrow();
  });
});

describe("out of a release's archives", () => {
  /** Does the steps of the stage that unpacks in a folder, on a machine of this kind. */
  function unpack(folder: string, architecture: string): number {
    const bin = makeTempDir();
    writeFileSync(join(bin, 'dpkg'), `#!/bin/sh\necho ${architecture}\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}` };
    return Bun.spawnSync(['sh', '-c', say('RUN', 'unpacked')], { cwd: folder, env }).exitCode;
  }

  test('comes the executable of the platform, if it is as SHA256SUMS says; and they hold both files', async () => {
    const folder = makeTempDir();
    const other = join(makeTempDir(), 'executable');
    for (const platform of ['linux-x64', 'linux-x64-musl', 'linux-arm64', 'darwin-x64']) {
      writeFileSync(other, `of ${platform}`, { mode: 0o755 });
      await pack(platform, other, folder);
    }
    await writeChecksums(folder);
    for (const [architecture, platform] of [
      ['amd64', 'linux-x64'],
      ['arm64', 'linux-arm64'],
    ] as const) {
      expect(unpack(folder, architecture)).toBe(0);
      expect(readFileSync(join(folder, 'satchel'), 'utf8')).toBe(`of ${platform}`);
      expect(statSync(join(folder, 'satchel')).mode & 0o777).toBe(0o755);
    }
    const taken = new Bun.Glob(say('COPY', 'unpacked').split(' ')[0] ?? '');
    const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('linux-x64.tar.gz'));
    expect([taken.match(archive), taken.match('satchel-0.1.0-darwin-x64.tar.gz')]).toEqual([true, false]);
    // As the guide says.
    const [line = ''] =
      blocksOf(guide('container'), 'text')
        .join('')
        .match(/^tar .*$/m) ?? [];
    const at = makeTempDir();
    copyFileSync(join(folder, archive), join(at, archive));
    const names = line.replaceAll(/satchel-[\d.]+-linux-x64(?=\.tar|\/)/g, archive.replace('.tar.gz', ''));
    expect(Bun.spawnSync(['sh', '-c', names], { cwd: at }).exitCode).toBe(0);
    expect(readdirSync(at).toSorted()).toEqual(['Dockerfile', 'compose.yaml', archive]);
    // Another file by its name, and one that SHA256SUMS does not have.
    writeFileSync(join(folder, archive), 'of a stranger');
    expect(unpack(folder, 'amd64')).not.toBe(0);
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').split('\n');
    writeFileSync(join(folder, 'SHA256SUMS'), sums.filter((sum) => !sum.endsWith(archive)).join('\n'));
    expect(unpack(folder, 'amd64')).not.toBe(0);
  });
});

/* --- How it runs -------------------------------------------------------------------------------------------------- */

/** What Debian's slim base gives the program, and where the rest is mounted. */
function makeRoot(): string {
  const root = makeTempDir();
  chmodSync(root, 0o755);
  const place = (path: string): void => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    copyFileSync(realpathSync(path), join(root, path));
  };
  // What unpacks into TMPDIR needs one more.
  const modules = [...new Bun.Glob('@node-rs/argon2-*/*.node').scanSync({ cwd: MODULES, absolute: true })];
  const { stdout } = Bun.spawnSync(['ldd', BINARY, ...modules]);
  for (const [library] of stdout.toString().matchAll(/(?<=^\s|=> )\/\S+/gm)) place(library);
  place('/etc/ssl/certs/ca-certificates.crt');
  for (const folder of ['proc', 'dev', 'data', 'tmp', 'usr/local/bin'])
    mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, 'etc/passwd'), `satchel:x:${UID}:${GID}::/data:/usr/sbin/nologin\n`);
  writeFileSync(join(root, 'usr/local/bin/satchel'), '');
  return root;
}

const can_run = canMount && existsSync('/etc/ssl/certs/ca-certificates.crt') && Bun.which('ldd') !== null;
const root = can_run ? makeRoot() : '';

/** A volume of this owner. */
function makeVolume(uid: number, gid: number): string {
  const volume = makeTempDir();
  chmodSync(volume, 0o755);
  chownSync(volume, uid, gid);
  return volume;
}

/** Has what follows run as the image does, with this volume; `serve` unless given, as its first process. */
function wrapFor(
  volume: string,
  command = [...commandOf(say('ENTRYPOINT')), ...commandOf(say('CMD'))],
): string[] {
  const bin = join(root, 'usr/local/bin/satchel');
  const script = [
    ...[`mount --bind ${root} ${root}`, `mount --bind ${BINARY} ${bin}`],
    ...[`mount -o remount,bind,ro ${root}`, `mount -o remount,bind,ro ${bin}`],
    ...[`mount --bind ${volume} ${root}/data`, `mount -t proc none ${root}/proc`],
    `mount --bind /dev ${root}/dev`,
    `exec chroot --userspec=${say('USER')} ${root} ${command.join(' ')}`,
  ].join(' && ');
  return ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script];
}

const PATHS = { PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

interface Container extends Server {
  /** As `docker exec`. */
  exec(...command: string[]): { exit: number; stdout: string; stderr: string };
  /** As `docker stop`, without its end. */
  stop(): Promise<number>;
}

async function runImage(volume: string, env: Record<string, string> = {}): Promise<Container> {
  const all = { ...ENV, ...PATHS, SATCHEL_PORT: '0', ...env };
  const server = await startServer(volume, all, wrapFor(volume));
  const [inside = ''] = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').split(' ');
  return {
    ...server,
    url: server.url.replace('0.0.0.0', '127.0.0.1'),
    exec(...command) {
      const enter = ['nsenter', '-t', inside, '-m', '-p', '-r', '-w', '-S', String(UID), '-G', String(GID)];
      const ran = Bun.spawnSync([...enter, ...command], { env: all, stdin: 'ignore' });
      return { exit: ran.exitCode, stdout: ran.stdout.toString(), stderr: ran.stderr.toString() };
    },
    async stop() {
      process.kill(Number(inside), say('STOPSIGNAL') as NodeJS.Signals);
      return server.exited;
    },
  };
}

describe.if(can_run)('run as its user on a read-only root', () => {
  const token = 'welcome-'.repeat(5);
  const person = { email: 'ann@example.com', password: 'correct horse battery staple' };
  const come = (url: string) =>
    fetch(`${url}/console/welcome/${token}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Satchel-Console': '1' },
      body: JSON.stringify(person),
    });

  test('it serves, is well, takes passwords and the token once, is backed up by a pipe, and stops by the signal', async () => {
    const volume = makeVolume(UID, GID);
    const env = { SATCHEL_PUBLIC_URL: 'satchel.example.com', SATCHEL_WELCOME_TOKEN: token };
    const first = await runImage(volume, env);
    expect(first.exec(...HEALTHCHECK)).toEqual({ exit: 0, stdout: 'ok\n', stderr: '' });
    // A native module is unpacked into TMPDIR for that.
    expect((await come(first.url)).status).toBe(204);
    expect(readFileSync(join(volume, 'server.json'), 'utf8')).not.toContain(token);
    const backup = first.exec('satchel', 'backup', '-');
    expect([backup.exit, backup.stdout.length > 100_000]).toEqual([0, true]);
    const foreign = readdirSync(volume, { recursive: true, encoding: 'utf8' }).filter(
      (name) => statSync(join(volume, name)).uid !== UID,
    );
    expect([foreign, statSync(join(volume, 'tmp')).mode & 0o777]).toEqual([[], 0o700]);
    expect(await first.stop()).toBe(0);
    expect(first.stderr()).not.toContain(token);

    const second = await runImage(volume, env);
    expect((await come(second.url)).status).toBe(404);
    expect(second.exec('satchel', 'doctor').stdout).toContain(
      'welcome token: There has been a first person: SATCHEL_WELCOME_TOKEN makes nobody any more, and can go.',
    );
    expect(await second.stop()).toBe(0);
    // Of each version of the module one file stays.
    expect(readdirSync(join(volume, 'tmp'))).toHaveLength(1);
  });

  const inside = 'server.lock';
  test.each([
    ["root's folder", '', 0, 0o755],
    ["root's folder, which it may not enter", '', 0, 0o700],
    ["root's file in its folder", inside, UID, 0o700],
    ["another user's folder", '', 1000, 0o755],
  ])('on a volume with %s it ends with one line that says what mends it', (_what, name, uid, mode) => {
    const volume = makeVolume(uid, uid);
    chmodSync(volume, mode);
    writeFileSync(join(volume, inside), '', { mode: 0o600 });
    const { exitCode, stdout, stderr } = Bun.spawnSync(wrapFor(volume), { env: { ...ENV, ...PATHS } });
    expect([exitCode, stdout.toString()]).toEqual([1, '']);
    const [owner, other] = uid === 1000 ? ['user 1000', 'run this as user 1000, or '] : ['root', ''];
    expect(stderr.toString()).toBe(
      `satchel: ${join('/data', name)} is ${owner}'s, and Satchel runs as user ${UID}, who can't use it: ${other}chown -R ${UID}:${GID} /data, as root, mends that.\n`,
    );
  });
});
