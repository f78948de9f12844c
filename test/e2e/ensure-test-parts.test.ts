/** scripts/ensure-test-parts.sh on machines with and without apt-get, root and a network, played by small scripts. */
import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';

const SCRIPT = join(import.meta.dir, '../../scripts/ensure-test-parts.sh');
const TOOLS = ['bash', 'grep', 'chmod', 'cat', 'mkdir', 'ln'];

/** A checkout with one test file, on a machine that has these programs and the few tools that any has. */
function machine(test_file: string, programs: Record<string, string>) {
  const home = makeTempDir();
  const bin = join(home, 'bin');
  const checkout = join(home, 'checkout');
  for (const folder of [bin, join(checkout, 'test')]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(checkout, 'test/a.test.ts'), test_file);
  for (const tool of TOOLS) symlinkSync(Bun.which(tool) ?? '', join(bin, tool));
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  const calls = join(home, 'calls');
  return {
    run() {
      const script = `set -euo pipefail; source '${SCRIPT}'; ensure_test_parts; echo done; tell_missing_parts`;
      const env = { PATH: bin, CALLS: calls, BIN: bin, HOME: home };
      const { exitCode, stdout, stderr } = Bun.spawnSync(['bash', '-c', script], { cwd: checkout, env });
      return [exitCode, stdout.toString(), stderr.toString()];
    },
    calls: () => (existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []),
  };
}

const ROOT = { id: 'echo 0', timeout: 'shift; "$@"' };
/** apt-get as far as it matters: `install` puts a program there. */
const APT_GET =
  'echo "$@" >> "$CALLS"; echo noise >&2; [[ $* != *install* ]] || { echo "#!" > "$BIN/chromium"; chmod 755 "$BIN/chromium"; }';
/** Put together here, so that this file itself does not ask for it. */
const ASKS = `const chromium = ${'part'}('chromium');`;
const SKIPPED = 'Skipped: tests that need chromium. On Debian: apt-get install chromium\n';

describe('what tests drive', () => {
  test('is installed as root on Debian, once, without a word', () => {
    const { run, calls } = machine(ASKS, { ...ROOT, 'apt-get': APT_GET });
    expect(run()).toEqual([0, 'done\n', '']);
    expect(calls()).toEqual([
      expect.stringMatching(/ update$/),
      expect.stringMatching(/ install -y --no-install-recommends chromium$/),
    ]);
    expect(run()).toEqual([0, 'done\n', '']);
    expect(calls()).toHaveLength(2);
  });

  test('is left alone where no test asks for it', () => {
    const { run, calls } = machine('', { ...ROOT, 'apt-get': APT_GET });
    expect([run(), calls()]).toEqual([[0, 'done\n', ''], []]);
  });

  test('is told of at the end where it can not be installed, and nothing fails', () => {
    const offline = machine(ASKS, { ...ROOT, 'apt-get': 'echo "no network" >&2; exit 100' });
    expect(offline.run()).toEqual([0, `done\n${SKIPPED}`, '']);
    expect(machine(ASKS, ROOT).run()).toEqual([0, `done\n${SKIPPED}`, '']);
    const plain_user = machine(ASKS, { ...ROOT, id: 'echo 1000', 'apt-get': APT_GET });
    expect([plain_user.run(), plain_user.calls()]).toEqual([[0, `done\n${SKIPPED}`, ''], []]);
  });

  test('is not told of where it would only have been faster', () => {
    const { run } = machine(`part('chromium-headless-shell')`, ROOT);
    expect(run()).toEqual([0, 'done\n', '']);
  });

  test('may be of several packages', () => {
    const { run } = machine(`const swaks = ${'part'}('swaks');`, ROOT);
    const told = 'Skipped: tests that need swaks. On Debian: apt-get install swaks libnet-ssleay-perl\n';
    expect(run()).toEqual([0, `done\n${told}`, '']);
  });

  const ASKS_REGISTRY = `const litestream = ${'part'}('litestream');`;
  const GO = 'echo "$@" >> "$CALLS"; echo "#!" > "$GOBIN/litestream"; chmod 755 "$GOBIN/litestream"';

  test('comes from a package registry by anybody, and a later run finds it', () => {
    const { run, calls } = machine(ASKS_REGISTRY, { ...ROOT, id: 'echo 1000', go: GO });
    expect(run()).toEqual([0, 'done\n', '']);
    expect(run()).toEqual([0, 'done\n', '']);
    expect(calls()).toEqual([expect.stringMatching(/^install \S+\/litestream@v[\d.]+$/)]);
  });

  test('is told of where the registry does not answer', () => {
    const { run } = machine(ASKS_REGISTRY, { ...ROOT, go: 'exit 1' });
    expect(run()).toEqual([
      0,
      expect.stringMatching(
        /^done\nSkipped: tests that need litestream. With Go: go install \S+\/litestream@v[\d.]+\n$/,
      ),
      '',
    ]);
  });
});
