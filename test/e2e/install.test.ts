/**
 * install.sh in scratch copies of the checkout: into a prefix, below DESTDIR, and `--try`. The copies hold the compiled
 * dist/satchel of this checkout, so nothing is compiled again.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { VARIABLES } from '../../src/settings.ts';
import { part } from '../support/parts.ts';
import { makeTempDir } from '../support/temp.ts';
import { freePort } from './binary.ts';

const ROOT = join(import.meta.dir, '../..');
const SCRATCH = makeTempDir();
const shellcheck = part('shellcheck');
setDefaultTimeout(120_000);
const servers: number[] = [];

interface Outcome {
  exit: number;
  stdout: string;
  stderr: string;
}

interface Checkout {
  folder: string;
  /** A home directory of its own, to see that it stays as it was. */
  home: string;
  run(command: string[], env?: Record<string, string>, cwd?: string): Promise<Outcome>;
}

function scratchCheckout(name: string): Checkout {
  const folder = join(SCRATCH, name);
  const home = join(SCRATCH, `${name}-home`);
  mkdirSync(join(folder, 'data'), { recursive: true });
  mkdirSync(join(folder, 'dist'));
  mkdirSync(home);
  for (const part of ['handbook', 'install.sh', 'package.json', 'bun.lock', 'scripts', 'src']) {
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  }
  copyFileSync(join(ROOT, 'dist/satchel'), join(folder, 'dist/satchel'));
  return {
    folder,
    home,
    async run(command, env = {}, cwd = folder) {
      const path = `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`;
      const child = Bun.spawn(command, {
        cwd,
        env: { PATH: path, HOME: home, ...env },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const [stdout, stderr, exit] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ]);
      return { exit, stdout, stderr };
    },
  };
}

/** Puts a program in place of an installed one that is not the build of the checkout, and works as that does. */
function makeOlderBuild(checkout: Checkout, program: string): void {
  const version = '{"version":"0.0.9","backend_version":"older"}';
  const script = `#!/bin/sh\n[ "$1" != version ] || exec echo '${version}'\nexec '${checkout.folder}/dist/satchel' "$@"\n`;
  rmSync(program);
  writeFileSync(program, script, { mode: 0o755 });
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

/** Starts a server, and returns where it listens and how to stop it. */
async function startServer(command: string[]): Promise<{ address: string; stop(): Promise<number> }> {
  const child = Bun.spawn(command, { cwd: '/', stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' });
  servers.push(child.pid);
  const decoder = new TextDecoder();
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += decoder.decode(chunk);
    const address = /satchel listening on (http:\S+)/.exec(printed)?.[1];
    if (address === undefined) continue;
    return {
      address,
      stop() {
        child.kill('SIGTERM');
        return child.exited;
      },
    };
  }
  throw new Error(`the server did not start: ${printed}`);
}

afterAll(() => {
  for (const pid of servers) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
});

describe('install.sh', () => {
  test('explains itself, and refuses what it does not know', async () => {
    const checkout = scratchCheckout('usage');
    const help = await checkout.run(['./install.sh', '--help']);
    expect(help).toMatchObject({ exit: 0, stderr: '' });
    for (const option of ['--prefix DIR', '--try', '--uninstall', 'DESTDIR'])
      expect(help.stdout).toContain(option);
    expect(await checkout.run(['sh', 'install.sh', '--help'])).toEqual(help);
    const together = 'These options do not go together.';
    for (const [wrong, why] of [
      ['--nonsense', 'There is no option --nonsense.'],
      ['--prefix', '--prefix needs a directory.'],
      ['--from', '--from needs a file.'],
      ['--prefix a b', 'There is no option b.'],
      ['--purge', together],
      ['--uninstall --yes', together],
      ['--try --prefix a', together],
      ['--try --uninstall', '--try does not go with --uninstall.'],
    ] as const)
      expect(await checkout.run(['./install.sh', ...wrong.split(' ')])).toEqual({
        ...{ exit: 2, stdout: '' },
        stderr: `${help.stdout}\n${why}\n`,
      });
    expect(readdirSync(checkout.folder).sort()).toEqual(
      ['bun.lock', 'data', 'dist', 'handbook', 'install.sh', 'package.json', 'scripts', 'src'].sort(),
    );
  });

  test('asked to remove what is not installed says so, and names nothing', async () => {
    const checkout = scratchCheckout('nothing');
    const stage = join(SCRATCH, 'nothing-staged');
    for (const purge of [[], ['--purge', '--yes']]) {
      const command = ['sh', 'install.sh', '--uninstall', ...purge];
      expect(await checkout.run(command, { DESTDIR: stage })).toEqual({
        exit: 1,
        stdout: '',
        stderr: 'No Satchel is installed here as a service; nothing was removed.\n',
      });
    }
    // Of what is left it names what is there.
    mkdirSync(join(stage, 'var/lib/satchel'), { recursive: true });
    const left = await checkout.run(['./install.sh', '--uninstall'], { DESTDIR: stage });
    expect([left.exit, left.stdout.match(/^ {2}.*/gm)]).toEqual([0, [`  ${stage}/var/lib/satchel`]]);
  });

  test.skipIf(shellcheck === null)('is for any POSIX shell, and the scripts beside it are sound', () => {
    const check = (...args: string[]) =>
      Bun.spawnSync([shellcheck ?? '', '-x', ...args], { cwd: ROOT }).stdout.toString();
    expect(check('--shell=sh', 'install.sh', 'scripts/ensure-bun.sh')).toBe('');
    expect(check('scripts/test.sh', 'scripts/release', 'scripts/bench', 'scripts/screenshots')).toBe('');
  });

  test('documents every setting in the environment file', () => {
    const composed = readFileSync(join(ROOT, 'src/config.ts'), 'utf8').match(/\bSATCHEL_[A-Z0-9_]+[A-Z]\b/g);
    // That keys of the store may be in files is said beside them.
    const told = [...VARIABLES, ...(composed ?? [])].filter((name) => !/_S3_.*_FILE$/.test(name));
    const settings = new Set(told);
    // Where the data are is said by the unit and by satchel-serve, which also keep everything else out of reach.
    settings.delete('SATCHEL_DATA_DIR');
    const lines = readFileSync(join(ROOT, 'scripts/satchel.env'), 'utf8').split('\n');
    const documented = lines.map((line) => /^#(SATCHEL_[A-Z0-9_]+)=/.exec(line)?.[1]).filter(Boolean);
    expect(documented.sort()).toEqual([...settings].sort());
  });
});

describe('install.sh --prefix', () => {
  const checkout = scratchCheckout('prefix');
  const prefix = join(checkout.folder, 'my apps/satchel');
  const satchel = join(prefix, 'bin/satchel');
  const data = join(prefix, 'data');

  test('installs a server that runs with its own settings and data', async () => {
    const installed = await checkout.run(
      [join(checkout.folder, 'install.sh'), '--prefix', 'satchel'],
      {},
      makeFolder(),
    );
    expect(installed).toMatchObject({ exit: 0 });
    expect(installed.stdout).toContain('project create');
    expect(modeOf(data)).toBe('700');
    expect(modeOf(join(prefix, 'etc/satchel.env'))).toBe('600');
    expect(readdirSync(checkout.home)).toEqual([]);

    appendFileSync(join(prefix, 'etc/satchel.env'), 'SATCHEL_PORT=0\nSATCHEL_ENV="a rehearsal"\n');
    const server = await startServer([join(prefix, 'bin/satchel-serve')]);
    const version: unknown = await (await fetch(`${server.address}/api/version`)).json();
    expect(version).toMatchObject({
      env: 'a rehearsal',
      backend_version: expect.stringMatching(/^\d{4}\.\d\d\.\d\d\.\d+$/),
    });
    expect(await server.stop()).toBe(0);
  });

  test("has verbs that know the server's settings, as install.sh prints them and without a data directory", async () => {
    const settings = join(prefix, 'etc/satchel.env');
    appendFileSync(settings, 'SATCHEL_PUBLIC_URL=https://files.example.com\n');
    for (const named of [['--data-dir', data], []]) {
      const first = await checkout.run([satchel, 'person', 'add', '--first', ...named], {}, checkout.home);
      expect([first.exit, first.stdout]).toEqual([0, expect.stringContaining('https://files.example.com/')]);
    }
  });

  test('names the lines of its settings that a shell read otherwise, and has the server read all of a value', async () => {
    const folder = makeFolder();
    await checkout.run(['./install.sh', '--prefix', folder]);
    const [settings, serve] = [join(folder, 'etc/satchel.env'), join(folder, 'bin/satchel-serve')];
    const store = 's3://files/x?endpoint=http%3A%2F%2F127.0.0.1%3A9&style=path';
    const lines = ['SATCHEL_PORT=0', 'SATCHEL_S3_ACCESS_KEY_ID=a', 'SATCHEL_S3_SECRET_ACCESS_KEY=b'];
    writeFileSync(
      settings,
      [...lines, `SATCHEL_OBJECT_STORE=${store}`, 'SATCHEL_ENV="$HOME"', ''].join('\n'),
    );
    writeFileSync(serve, '#!/bin/sh\nset -a\n. etc/satchel.env\nset +a\n', { mode: 0o755 });
    const upgraded = await checkout.run(['./install.sh', '--prefix', folder]);
    expect([upgraded.exit, upgraded.stdout]).toEqual([
      0,
      expect.stringContaining('before you start it: 4, 5\n'),
    ]);
    expect((await checkout.run(['./install.sh', '--prefix', folder])).stdout).not.toContain('A shell read');
    const server = await startServer([serve]);
    const { settings: told } = JSON.parse(readFileSync(join(folder, 'data/server.json'), 'utf8'));
    expect(told).toMatchObject({ SATCHEL_OBJECT_STORE: store, SATCHEL_ENV: '$HOME' });
    await server.stop();
  });

  test('leaves a program of the same build as it is, and makes no backup', async () => {
    expect(await checkout.run([satchel, 'project', 'list', '--data-dir', data])).toMatchObject({ exit: 0 });
    const before = statSync(satchel).ino;
    const again = await checkout.run(['./install.sh', '--prefix', prefix]);
    expect([again.exit, again.stdout]).toEqual([0, expect.stringContaining('is installed already')]);
    expect([statSync(satchel).ino, readdirSync(join(prefix, 'backups'))]).toEqual([before, []]);
  });

  test('upgrades another build after a backup, and keeps settings, data and the newest five of those backups', async () => {
    const create = [satchel, 'project', 'create', '--name', 'Kept', '--data-dir', data];
    expect(await checkout.run(create)).toMatchObject({ exit: 0 });
    const older = [1, 2, 3, 4, 5, 6].map((day) => `before-upgrade-2020010${day}T000000Z.tar`);
    for (const name of [...older, 'satchel-20200101T000000Z.tar'])
      writeFileSync(join(prefix, 'backups', name), 'older');
    makeOlderBuild(checkout, satchel);

    const upgraded = await checkout.run(['./install.sh', '--prefix', prefix]);
    expect([upgraded.exit, upgraded.stdout]).toEqual([
      0,
      expect.stringMatching(/^Upgrading Satchel 0\.0\.9 \(older\) to \d+\.\d+\.\d+ \(\d{4}\./m),
    ]);
    expect(readFileSync(satchel).equals(readFileSync(join(checkout.folder, 'dist/satchel')))).toBe(true);

    const kept = readdirSync(join(prefix, 'backups')).sort();
    expect(kept.slice(0, 4)).toEqual(older.slice(2));
    // The nightly ones are the timer's.
    expect([kept.length, kept.at(-1)]).toEqual([6, 'satchel-20200101T000000Z.tar']);
    const backup = join(prefix, 'backups', kept[4] ?? '');
    expect(modeOf(backup)).toBe('600');
    expect(await checkout.run([satchel, 'verify', backup, '--data-dir', data])).toMatchObject({ exit: 0 });
    expect(readFileSync(join(prefix, 'etc/satchel.env'), 'utf8')).toContain('SATCHEL_ENV="a rehearsal"');
    const projects = await checkout.run([satchel, 'project', 'list', '--data-dir', data]);
    expect(projects.stdout).toContain('Kept');
    const restored = await checkout.run([satchel, 'restore', backup, '--yes'], {}, checkout.home);
    expect([restored.exit, restored.stdout]).toEqual([0, expect.stringContaining(data)]);
    expect(readdirSync(checkout.home)).toEqual([]);
  });

  test('follows no link to what it makes private, and has root install nothing in the folder of another user', async () => {
    const [linked, elsewhere] = [join(checkout.folder, 'linked'), makeFolder()];
    mkdirSync(linked);
    chmodSync(elsewhere, 0o755);
    symlinkSync(elsewhere, join(linked, 'backups'));
    expect(await checkout.run(['./install.sh', '--prefix', linked])).toMatchObject({ exit: 0 });
    expect([modeOf(join(linked, 'data')), modeOf(elsewhere)]).toEqual(['700', '755']);
    if (process.getuid?.() !== 0) return;
    chownSync(elsewhere, 65_534, 65_534);
    const before = readdirSync(elsewhere);
    expect(await checkout.run(['./install.sh', '--prefix', elsewhere])).toMatchObject({
      exit: 1,
      stderr: `${elsewhere} is another user's, and root installs nothing there: run this as that user.\n`,
    });
    expect(readdirSync(elsewhere)).toEqual(before);
  });

  test('changes nothing when the backup fails', async () => {
    const failing = '#!/bin/sh\nexit 1\n';
    rmSync(satchel);
    writeFileSync(satchel, failing);
    chmodSync(satchel, 0o755);
    const refused = await checkout.run(['./install.sh', '--prefix', prefix]);
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toContain('nothing was changed');
    expect(readFileSync(satchel, 'utf8')).toBe(failing);
  });

  test('is uninstalled: data and settings stay, unless that is meant to go too', async () => {
    const server = await startServer([
      join(checkout.folder, 'dist/satchel'),
      'serve',
      '--data-dir',
      data,
      '--port',
      '0',
    ]);
    copyFileSync(join(checkout.folder, 'dist/satchel'), satchel);
    const uninstall = ['./install.sh', '--uninstall', '--prefix', prefix];
    // The doctor finds something wrong now, which must not hide the server.
    chmodSync(data, 0o755);
    const served = await checkout.run(uninstall);
    expect([served.exit, served.stderr]).toEqual([1, expect.stringContaining('Stop it first')]);
    expect(existsSync(satchel)).toBe(true);
    chmodSync(data, 0o700);
    await server.stop();

    const removed = await checkout.run(uninstall);
    expect([removed.exit, removed.stdout]).toEqual([0, expect.stringContaining(data)]);
    expect(readdirSync(prefix).sort()).toEqual(['backups', 'data', 'etc']);
    expect(existsSync(join(data, 'satchel.db'))).toBe(true);

    const asked = await checkout.run([...uninstall, '--purge']);
    expect([asked.exit, asked.stdout]).toEqual([1, expect.stringContaining('This deletes for good')]);
    expect(existsSync(join(data, 'satchel.db'))).toBe(true);
    expect(await checkout.run([...uninstall, '--purge', '--yes'])).toMatchObject({ exit: 0 });
    expect(readdirSync(prefix)).toEqual([]);
    const nothing = await checkout.run(uninstall);
    expect([nothing.exit, nothing.stderr]).toEqual([1, expect.stringContaining('No Satchel is installed')]);
  });

  test('is purged after it was uninstalled, though its server was never started', async () => {
    const uninstall = ['./install.sh', '--uninstall', '--prefix', prefix];
    expect(await checkout.run(['./install.sh', '--prefix', prefix])).toMatchObject({ exit: 0 });
    expect(await checkout.run(uninstall)).toMatchObject({ exit: 0 });
    expect(await checkout.run([...uninstall, '--purge', '--yes'])).toMatchObject({ exit: 0 });
    expect(readdirSync(prefix)).toEqual([]);
  });

  /** A relative DIR counts from where install.sh is called. */
  function makeFolder(): string {
    mkdirSync(dirname(prefix), { recursive: true });
    return dirname(prefix);
  }
});

describe('install.sh with DESTDIR', () => {
  test('puts the files of a system service below it, and again as an upgrade', async () => {
    const checkout = scratchCheckout('staged');
    const stage = join(SCRATCH, 'stage');
    expect(await checkout.run(['./install.sh'], { DESTDIR: stage })).toMatchObject({ exit: 0 });

    const unit = readFileSync(join(stage, 'etc/systemd/system/satchel.service'), 'utf8');
    const command = /^ExecStart=(\S+) (.*)$/m.exec(unit);
    expect(existsSync(join(stage, command?.[1] ?? 'nowhere'))).toBe(true);
    expect(unit).not.toContain('\nMemoryDenyWriteExecute=yes');
    expect(unit).toContain('\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n');
    expect(modeOf(join(stage, 'usr/local/bin/satchel'))).toBe('755');
    expect(modeOf(join(stage, 'var/lib/satchel'))).toBe('700');
    expect(modeOf(join(stage, 'etc/satchel/satchel.env'))).toBe('600');

    // The service's own command line, with its paths below DESTDIR.
    const rest = (command?.[2] ?? '').replace('/var/lib/satchel', join(stage, 'var/lib/satchel')).split(' ');
    const server = await startServer([join(stage, 'usr/local/bin/satchel'), ...rest, '--port', '0']);
    expect((await fetch(`${server.address}/api/health`)).status).toBe(200);

    // The backup is taken while the server runs.
    makeOlderBuild(checkout, join(stage, 'usr/local/bin/satchel'));
    expect(await checkout.run(['./install.sh'], { DESTDIR: stage })).toMatchObject({ exit: 0 });
    const backups = join(stage, 'var/lib/satchel-backups');
    expect(readdirSync(backups)).toHaveLength(1);
    expect(modeOf(backups)).toBe('700');

    // So is the timer's, whose command line this is.
    const timer = readFileSync(join(stage, 'etc/systemd/system/satchel-backup.timer'), 'utf8');
    expect(timer).toContain('OnCalendar=');
    const nightly = readFileSync(join(stage, 'etc/systemd/system/satchel-backup.service'), 'utf8');
    const by_night = (/^ExecStart=(.*)$/m.exec(nightly)?.[1] ?? '').replaceAll(
      /\/(var|usr)\//g,
      `${stage}$&`,
    );
    expect(await checkout.run(by_night.split(' '))).toMatchObject({ exit: 0, stderr: '' });
    expect(readdirSync(backups).sort()).toEqual([
      expect.stringMatching(/^before-upgrade-/),
      expect.stringMatching(/^satchel-\d{8}T\d{6}\.\d{3}Z\.tar$/),
    ]);
    expect(await server.stop()).toBe(0);

    expect(await checkout.run(['./install.sh', '--uninstall'], { DESTDIR: stage })).toMatchObject({
      exit: 0,
    });
    expect(readdirSync(join(stage, 'etc/systemd/system'))).toEqual([]);
    expect(existsSync(join(stage, 'var/lib/satchel/satchel.db'))).toBe(true);
  });
});

describe('install.sh --try', () => {
  test('starts a server and prints commands that work as they are, and again the same', async () => {
    const checkout = scratchCheckout('try');
    const env = { SATCHEL_PORT: freePort() };
    const first = await checkout.run(['./install.sh', '--try'], env);
    // It runs on even where what came after its start has failed.
    servers.push(Number(readFileSync(join(checkout.folder, 'data/server.pid'), 'utf8')));
    expect(first).toMatchObject({ exit: 0 });
    const commands =
      /^KEY=.*^Stop the server/ms.exec(first.stdout)?.[0].replace(/^Stop the server$/m, '') ?? '';

    const pasted = await checkout.run(['bash', '-c', commands], {}, '/');
    expect(pasted).toMatchObject({ exit: 0, stderr: '' });
    expect(pasted.stdout).toContain('\nHello from Satchel\n');
    expect(pasted.stdout).toContain('"status":"completed"');
    expect(pasted.stdout.split('"status":"completed"')[1]).toContain('ada@example.com');

    const second = await checkout.run(['./install.sh', '--try'], env);
    expect(second).toMatchObject({ exit: 0 });
    expect(second.stdout).toContain('was running already');
    const withoutLink = (text: string) => text.replace(/\/console\/welcome\/\S+/, '');
    const again = second.stdout.replace('was running already', 'is running');
    expect(withoutLink(again)).toBe(withoutLink(first.stdout));
    const link = /http:\/\/127\.0\.0\.1:\d+\/console\/welcome\/\S+/.exec(again)?.[0] ?? '';
    const used = await fetch(link, {
      ...{ method: 'POST', headers: { 'X-Satchel-Console': '1', 'Content-Type': 'application/json' } },
      body: JSON.stringify({ email: 'me@example.com', password: 'correct horse battery staple' }),
    });
    expect(used.status).toBe(204);
    const third = await checkout.run(['./install.sh', '--try'], env);
    expect(third.stdout).toMatch(/\/console$/m);
    expect(third.stdout).not.toContain('/console/welcome/');
    expect(readdirSync(checkout.home)).toEqual([]);

    const beside = scratchCheckout('try-beside');
    const refused = await beside.run(['./install.sh', '--try'], env);
    expect([refused.exit, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toBe(
      `The Satchel at http://127.0.0.1:${env.SATCHEL_PORT} does not serve ${beside.folder}/data.\n` +
        'Stop it, or choose another port: SATCHEL_PORT=8421 ./install.sh --try\n',
    );
    expect(readdirSync(join(beside.folder, 'data'))).toEqual([]);

    process.kill(Number(/kill (\d+)/.exec(second.stdout)?.[1]), 'SIGTERM');
  });

  test('says so when the port belongs to something else', async () => {
    const stranger = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('hello') });
    const checkout = scratchCheckout('taken');
    const refused = await checkout.run(['./install.sh', '--try'], { SATCHEL_PORT: String(stranger.port) });
    await stranger.stop(true);
    expect(refused).toMatchObject({ exit: 1, stdout: '' });
    expect(refused.stderr).toContain('in use by something that is not Satchel');
  });
});
