/** scripts/test.sh on a checkout without tests, with a small script in Bun's place: how its last line says what happened. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dir, '../..');
setDefaultTimeout(120_000);

/** Runs scripts/test.sh where `bun test` is `testing`. */
function start(testing: string) {
  const checkout = makeTempDir();
  mkdirSync(join(checkout, 'bin'));
  for (const part of ['scripts', 'package.json'])
    cpSync(join(ROOT, part), join(checkout, part), { recursive: true });
  const bun = `#!/bin/sh\ncase $1 in\n--version) echo 1.4.5 ;;\ntest) ${testing} ;;\nesac\n`;
  writeFileSync(join(checkout, 'bin/bun'), bun, { mode: 0o755 });
  const child = Bun.spawn([join(checkout, 'scripts/test.sh')], {
    cwd: checkout,
    env: { PATH: `${join(checkout, 'bin')}:/usr/bin:/bin`, HOME: checkout },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    // A group of its own, as a terminal stops it.
    detached: true,
  });
  const end = async () => {
    const printed = await new Response(child.stdout).text();
    return { last: printed.trimEnd().split('\n').at(-1), exit: await child.exited };
  };
  return { checkout, pid: child.pid, end };
}

test('tells how many passed and failed, and of a run that broke off that it failed', async () => {
  expect(await start("printf ' 12 pass\\n 0 fail\\n'").end()).toEqual({
    last: '12 passed, 0 failed',
    exit: 0,
  });
  expect(await start("printf ' 12 pass\\n 3 fail\\n'; exit 1").end()).toEqual({
    ...{ last: '12 passed, 3 failed', exit: 1 },
  });
  expect(await start('exit 9').end()).toEqual({ last: '0 passed, 1 failed', exit: 1 });
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('stopped by %s it says so, and not that a test failed', async (signal, exit) => {
  const script = start('touch begun; exec sleep 300');
  await until(() => existsSync(join(script.checkout, 'begun')));
  process.kill(-script.pid, signal);
  expect(await script.end()).toEqual({
    ...{ exit, last: `Stopped by ${signal} before the tests had ended: this says nothing of them.` },
  });
});
