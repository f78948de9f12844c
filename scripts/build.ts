/**
 * `bun run build` compiles Satchel into one executable, dist/satchel. With `--all` it compiles one for each platform
 * that Satchel supports instead: dist/satchel-linux-x64 and so on.
 */
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../package.json';

const ROOT = join(import.meta.dir, '..');
const DIST = join(ROOT, 'dist');

const TARGETS: Readonly<Record<string, Bun.Build.CompileTarget>> = {
  'linux-x64': 'bun-linux-x64',
  'linux-arm64': 'bun-linux-arm64',
  'linux-x64-musl': 'bun-linux-x64-musl',
  'linux-arm64-musl': 'bun-linux-arm64-musl',
  'darwin-arm64': 'bun-darwin-arm64',
  'darwin-x64': 'bun-darwin-x64',
};

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Output of a git command in the checkout, or null where there is no git or no commit. */
function git(...args: string[]): string | null {
  if (Bun.which('git') === null) return null;
  // An installation by root builds in somebody else's checkout, which git refuses to read unless told.
  const command = ['git', '-c', `safe.directory=${ROOT}`, '-C', ROOT, ...args];
  const result = Bun.spawnSync(command, { stderr: 'ignore', env: { ...process.env, TZ: 'UTC' } });
  return result.success ? result.stdout.toString().trim() : null;
}

/** YYYY.MM.DD.N: the UTC day of HEAD's commit and the number of commits of that day up to HEAD; without git, today and 1. */
export function backendVersion(): string {
  // A checkout inside somebody else's repository must not take that one's history for its own.
  const is_repository = git('rev-parse', '--show-prefix') === '';
  const days = is_repository ? git('log', '--format=%cd', '--date=format-local:%Y.%m.%d') : null;
  const [day, ...earlier] = (days ?? '').split('\n');
  if (!day) return `${new Date().toISOString().slice(0, 10).replaceAll('-', '.')}.1`;
  return `${day}.${1 + earlier.filter((other) => other === day).length}`;
}

/** Compiles into dist/<name>, or throws. The file appears under its name only when it is complete. */
async function compile(name: string, target?: Bun.Build.CompileTarget): Promise<void> {
  const workers = await Array.fromAsync(new Bun.Glob('src/**/*.worker.ts').scan({ cwd: ROOT }));
  const unfinished = join(DIST, `.${name}.unfinished`);
  await mkdir(DIST, { recursive: true });
  try {
    await Bun.build({
      entrypoints: ['src/main.ts', ...workers.sort()].map((path) => join(ROOT, path)),
      // Flat names let `new URL('./x.worker.ts', import.meta.url)` find a worker in the executable as it does in src/.
      naming: { entry: '[name].[ext]' },
      target: 'bun',
      sourcemap: 'linked',
      define: {
        SATCHEL_VERSION: JSON.stringify(version),
        SATCHEL_BACKEND_VERSION: JSON.stringify(backendVersion()),
      },
      compile: {
        outfile: unfinished,
        // Whoever can write a .env or bunfig.toml into the working directory must not get to run code.
        autoloadDotenv: false,
        autoloadBunfig: false,
        ...(target ? { target } : {}),
      },
    });
    await rename(unfinished, join(DIST, name));
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Compiles for every platform, going on after a failure. Returns how many failed. */
async function compileAll(): Promise<number> {
  // The native modules of other platforms are optional packages that a plain install leaves out.
  const install = Bun.spawnSync(
    [process.execPath, 'install', '--frozen-lockfile', '--os', '*', '--cpu', '*'],
    { cwd: ROOT, stdout: 'ignore', stderr: 'inherit' },
  );
  if (!install.success) {
    say('The packages for other platforms cannot be installed; see the message above.');
    return 1;
  }
  let failures = 0;
  for (const [platform, target] of Object.entries(TARGETS)) {
    try {
      await compile(`satchel-${platform}`, target);
      say(`dist/satchel-${platform}`);
    } catch (error) {
      failures += 1;
      say(`dist/satchel-${platform} failed: ${error instanceof Error ? error.message : String(error)}`);
      if (error instanceof AggregateError) for (const part of error.errors) say(`  ${String(part)}`);
    }
  }
  return failures;
}

if (import.meta.main) {
  const flags = process.argv.slice(2);
  if (flags.some((flag) => flag !== '--all')) {
    say('usage: bun run build [--all]');
    process.exit(2);
  }
  if (flags.includes('--all')) {
    const failures = await compileAll();
    if (failures > 0) say(`${failures} of ${Object.keys(TARGETS).length} platforms could not be built.`);
    process.exit(failures > 0 ? 1 : 0);
  }
  await compile('satchel');
  say(`dist/satchel ${version} (${backendVersion()})`);
}
