/** `bun run build` compiles Satchel into one executable, dist/satchel, for the machine that it runs on; scripts/release for others. */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { version } from '../package.json';
import { buildBundle } from '../src/console/bundle.ts';
import { readCore } from '../src/operation/client/service.ts';

const ROOT = join(import.meta.dir, '..');
const DIST = join(ROOT, 'dist');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Output of a git command in the checkout, or null where there is no git or no commit. */
export function git(...args: string[]): string | null {
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

/**
 * A single character beyond Latin-1 would have a whole file of the bundle kept in two bytes a character. The bundler escapes
 * those in code; what is left are names in the notices (`//!`) that it must keep.
 */
const PLAIN_NOTICES: Bun.BunPlugin = {
  name: 'plain notices',
  setup(build) {
    build.onLoad({ filter: /\/node_modules\/otpauth\// }, async ({ path }) => ({
      contents: (await Bun.file(path).text()).replace(/^\/\/!.*$/gm, (notice) =>
        notice.normalize('NFD').replace(/[^ -~]/g, ''),
      ),
      loader: 'js',
    }));
  },
};

/**
 * Compiles the sources in the current directory into `outfile`, whole or not at all under that name, or throws. A stack trace
 * of it names functions, and lines of the bundle: scripts/trace.ts says which lines of the sources those are, by the maps that
 * stay beside an executable `with_maps`, which is larger by them.
 */
export async function compile(
  outfile: string,
  options: { backend_version: string; target?: Bun.Build.CompileTarget; with_maps?: boolean },
): Promise<void> {
  const { backend_version, target, with_maps = false } = options;
  const console_bundle = JSON.stringify(await buildBundle());
  const workers = await Array.fromAsync(new Bun.Glob('src/**/*.worker.ts').scan());
  const unfinished = join(dirname(outfile), `.${basename(outfile)}.unfinished`);
  await mkdir(unfinished, { recursive: true });
  try {
    await Bun.build({
      entrypoints: ['src/main.ts', ...workers.sort()].map((path) => resolve(path)),
      // Flat names let `new URL('./x.worker.ts', import.meta.url)` find a worker in the executable as it does in src/.
      naming: { entry: '[name].[ext]' },
      // Threads share what they have in common.
      splitting: true,
      // Parsing the source took more time than all the rest of a start. It allows no top-level await in src/.
      bytecode: true,
      format: 'esm',
      target: 'bun',
      // Names stay: a trace is read by them.
      minify: { whitespace: true, syntax: true },
      sourcemap: with_maps ? 'external' : 'none',
      plugins: [PLAIN_NOTICES],
      define: {
        SATCHEL_VERSION: JSON.stringify(version),
        SATCHEL_BACKEND_VERSION: JSON.stringify(backend_version),
        SATCHEL_CONSOLE: JSON.stringify(console_bundle),
        SATCHEL_CLIENT_CORE: JSON.stringify(readCore()),
      },
      compile: {
        outfile: join(unfinished, basename(outfile)),
        // Whoever can write a .env or bunfig.toml into the working directory must not get to run code.
        autoloadDotenv: false,
        autoloadBunfig: false,
        ...(target ? { target } : {}),
      },
    });
    for (const made of await readdir(unfinished))
      await rename(join(unfinished, made), join(dirname(outfile), made));
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Exits where the console calls an endpoint in another way than the service has it. */
export function checkConsole(): void {
  for (const command of [
    ['scripts/console-types.ts'],
    ['x', '--bun', 'tsc', '--noEmit', '--project', 'src/console/page'],
  ]) {
    const { success, stdout } = Bun.spawnSync([process.execPath, ...command], { stderr: 'inherit' });
    if (success) continue;
    say(`${stdout}The console does not fit the endpoints that it calls.`);
    process.exit(1);
  }
}

if (import.meta.main) {
  if (process.argv.length > 2) {
    say('usage: bun run build');
    process.exit(2);
  }
  process.chdir(ROOT);
  const backend_version = backendVersion();
  checkConsole();
  await compile(join(DIST, 'satchel'), { backend_version });
  say(`dist/satchel ${version} (${backend_version})`);
}
