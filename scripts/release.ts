/**
 * `scripts/release [PLATFORM...]` builds dist/release: for each platform an archive with the executable and what installs it,
 * the bill of materials of all of them (CycloneDX), and SHA256SUMS of these files.
 */
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../package.json';
import { listPackages, type Package, writeSbom } from './bill-of-materials.ts';
import { backendVersion, checkConsole, compile, git } from './build.ts';

const ROOT = join(import.meta.dir, '..');

/** Bun's name for each platform, and what `bun install` calls it when it picks native modules. */
const PLATFORMS: Readonly<Record<string, { target: Bun.Build.CompileTarget; native: readonly string[] }>> = {
  'linux-x64': { target: 'bun-linux-x64', native: ['--os=linux', '--cpu=x64', '--libc=glibc'] },
  'linux-arm64': { target: 'bun-linux-arm64', native: ['--os=linux', '--cpu=arm64', '--libc=glibc'] },
  'linux-x64-musl': { target: 'bun-linux-x64-musl', native: ['--os=linux', '--cpu=x64', '--libc=musl'] },
  'linux-arm64-musl': {
    target: 'bun-linux-arm64-musl',
    native: ['--os=linux', '--cpu=arm64', '--libc=musl'],
  },
  'darwin-arm64': { target: 'bun-darwin-arm64', native: ['--os=darwin', '--cpu=arm64'] },
  'darwin-x64': { target: 'bun-darwin-x64', native: ['--os=darwin', '--cpu=x64'] },
};

/** What an archive holds beside the executable: what install.sh needs without a checkout, and what there is to read. */
const PACKED = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'handbook',
  'install.sh',
  'scripts/container',
  'scripts/satchel-backup.service',
  'scripts/satchel-backup.timer',
  'scripts/satchel.env',
  'scripts/satchel.service',
];

/** Of a release, the commit that it is built from: what is made twice is the same. */
function releaseTime(): Date {
  const seconds = Number(git('log', '-1', '--format=%ct') ?? '');
  return seconds > 0 ? new Date(seconds * 1_000) : new Date();
}

/** Runs a command, and throws with what it has to say where it fails. */
function run(command: string[], cwd: string): void {
  const { success, stderr } = Bun.spawnSync(command, { cwd, stdout: 'ignore', stderr: 'pipe' });
  if (!success) throw new Error(`${command.slice(0, 2).join(' ')}: ${stderr.toString().trim()}`);
}

/**
 * Compiles for one platform into `outfile`, in a copy of the sources that has this platform's native modules: `bun install`
 * holds them to the lockfile's hashes. Returns the packages in it.
 */
async function compileFor(platform: string, outfile: string): Promise<Package[]> {
  const { target, native } = PLATFORMS[platform] ?? {};
  if (target === undefined || native === undefined)
    throw new Error(`${platform} is not a platform of Satchel`);
  // Outside of the checkout, whose own modules would be found too.
  const copy = await mkdtemp(join(tmpdir(), `satchel-${platform}-`));
  try {
    for (const part of ['package.json', 'bun.lock', 'src', 'handbook'])
      await cp(join(ROOT, part), join(copy, part), { recursive: true });
    const options = ['--production', '--frozen-lockfile', '--ignore-scripts', ...native];
    run([process.execPath, 'install', ...options], copy);
    process.chdir(copy);
    await compile(outfile, { backend_version: backendVersion(), target });
    return await listPackages(copy);
  } finally {
    process.chdir(ROOT);
    await rm(copy, { recursive: true, force: true });
  }
}

/** The change log, whose unreleased entries are those of this version, on the day of its commit. */
function datedChanges(changes: string): string {
  const [day] = releaseTime().toISOString().split('T');
  return changes.replace('## Unreleased', `## [${version}] - ${day}`);
}

/** Packs an executable into an archive in `folder`; returns the archive's name. */
export async function pack(platform: string, executable: string, folder: string): Promise<string> {
  const name = `satchel-${version}-${platform}`;
  const unpacked = join(folder, name);
  try {
    await mkdir(join(unpacked, 'scripts'), { recursive: true });
    await cp(executable, join(unpacked, 'satchel'));
    for (const part of PACKED) await cp(join(ROOT, part), join(unpacked, part), { recursive: true });
    await Bun.write(
      join(unpacked, 'CHANGELOG.md'),
      datedChanges(await Bun.file(join(ROOT, 'CHANGELOG.md')).text()),
    );
    const same = [
      '--sort=name',
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=u=rwX,go=rX',
      `--mtime=@${releaseTime().getTime() / 1_000}`,
    ];
    run(['tar', ...same, '--use-compress-program=gzip -n', '-cf', `${name}.tar.gz`, name], folder);
  } finally {
    await rm(unpacked, { recursive: true, force: true });
  }
  return `${name}.tar.gz`;
}

/** Writes SHA256SUMS of the files that are in a folder, as `sha256sum --check` takes it. */
export async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const name of (await readdir(folder)).sort()) {
    const hash = new Bun.CryptoHasher('sha256').update(await Bun.file(join(folder, name)).bytes());
    lines.push(`${hash.digest('hex')}  ${name}\n`);
  }
  await Bun.write(join(folder, 'SHA256SUMS'), lines.join(''));
}

if (import.meta.main) {
  const named = process.argv.slice(2);
  const unknown = named.find((platform) => !(platform in PLATFORMS));
  if (unknown !== undefined) {
    process.stderr.write(`${unknown} is none of ${Object.keys(PLATFORMS).join(', ')}\n`);
    process.exit(2);
  }
  process.chdir(ROOT);
  checkConsole();
  const folder = join(ROOT, 'dist/release');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const packages: Package[] = [];
  for (const platform of named.length > 0 ? named : Object.keys(PLATFORMS)) {
    const executable = join(folder, `.${platform}`);
    packages.push(...(await compileFor(platform, executable)));
    process.stdout.write(`dist/release/${await pack(platform, executable, folder)}\n`);
    await rm(executable);
  }
  await writeSbom(join(folder, `satchel-${version}.cdx.json`), packages, {
    version: `${version}+${backendVersion()}`,
    time: releaseTime(),
  });
  await writeChecksums(folder);
}
