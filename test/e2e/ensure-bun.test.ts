/** scripts/ensure-bun.sh on machines with and without Bun, npm and curl, played by small scripts on a PATH of their own. */
import { afterAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');
const SCRATCH = mkdtempSync(join(tmpdir(), 'satchel-ensure-bun-'));
const TOOLS = ['bash', 'cat', 'chmod', 'dirname', 'head', 'ln', 'mkdir', 'sort'];

/** npm as far as it matters: puts Bun's package for this platform below --prefix, with only a stub as `bun` itself. */
const NPM = `#!/bin/bash
while [[ $# -gt 0 ]]; do
  case "$1" in
    --prefix) prefix=$2 ;;
    bun@*) version=\${1#bun@} ;;
  esac
  shift
done
mkdir -p "$prefix/node_modules/@oven/bun-linux-x64/bin"
printf '#!/bin/bash\\necho %s\\n' "$version" > "$prefix/node_modules/@oven/bun-linux-x64/bin/bun"
chmod 755 "$prefix/node_modules/@oven/bun-linux-x64/bin/bun"
`;

/** curl as far as it matters: answers with an installer that takes the wanted release as its argument. */
const CURL = `#!/bin/bash
cat <<'END'
mkdir -p "$BUN_INSTALL/bin"
printf '#!/bin/bash\\necho %s\\n' "\${1#bun-v}" > "$BUN_INSTALL/bin/bun"
chmod 755 "$BUN_INSTALL/bin/bun"
END
`;

const BROKEN = '#!/bin/bash\necho "no network" >&2\nexit 1\n';

function bunThatSays(version: string): string {
  return `#!/bin/bash\necho ${version}\n`;
}

interface Machine {
  checkout: string;
  /** Replaces or, with null, removes a program on the machine's PATH. */
  put(name: string, script: string | null): void;
  ensureBun(): { exit: number; bun: string; version: string; stderr: string };
}

function machine(programs: Record<string, string>): Machine {
  const home = mkdtempSync(join(SCRATCH, 'machine-'));
  const bin = join(home, 'bin');
  const checkout = join(home, 'check out');
  mkdirSync(bin);
  mkdirSync(join(checkout, 'scripts'), { recursive: true });
  cpSync(join(ROOT, 'scripts/ensure-bun.sh'), join(checkout, 'scripts/ensure-bun.sh'));
  for (const tool of TOOLS) symlinkSync(Bun.which(tool) ?? tool, join(bin, tool));
  const put = (name: string, script: string | null): void => {
    rmSync(join(bin, name), { force: true });
    if (script === null) return;
    mkdirSync(dirname(join(bin, name)), { recursive: true });
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  };
  for (const [name, script] of Object.entries(programs)) put(name, script);
  return {
    checkout,
    put,
    ensureBun() {
      const script = 'set -eu; . scripts/ensure-bun.sh; ensure_bun; echo "$BUN"; bun --version';
      const result = Bun.spawnSync(['/bin/sh', '-c', script], {
        cwd: checkout,
        env: { PATH: bin, HOME: home },
        stdin: 'ignore',
      });
      const [bun = '', version = ''] = result.stdout.toString().split('\n');
      return { exit: result.exitCode, bun, version, stderr: result.stderr.toString() };
    },
  };
}

afterAll(() => rmSync(SCRATCH, { recursive: true, force: true }));

describe('ensure-bun', () => {
  test('a recent Bun on PATH is used, and nothing is installed', () => {
    const host = machine({ bun: bunThatSays('1.10.0'), npm: NPM });
    expect(host.ensureBun()).toMatchObject({ exit: 0, version: '1.10.0', stderr: '' });
    expect(existsSync(join(host.checkout, '.tools'))).toBe(false);
  });

  test('a Bun in the home directory is used', () => {
    const host = machine({ '../.bun/bin/bun': bunThatSays('1.4.5'), npm: NPM });
    expect(host.ensureBun()).toMatchObject({ exit: 0, version: '1.4.5', stderr: '' });
  });

  test('without Bun, npm puts one into the checkout, which later runs find', () => {
    const host = machine({ npm: NPM });
    const bun = join(host.checkout, '.tools/bin/bun');
    expect(host.ensureBun()).toMatchObject({ exit: 0, bun, version: '1.4.5' });
    host.put('npm', null);
    expect(host.ensureBun()).toMatchObject({ exit: 0, bun, version: '1.4.5', stderr: '' });
  });

  test.each(['1.4.4', '1.3.10', '0.9.9', 'not a version'])('Bun %s counts as absent', (version) => {
    const host = machine({ bun: bunThatSays(version), npm: NPM });
    expect(host.ensureBun()).toMatchObject({ exit: 0, version: '1.4.5' });
  });

  test('where npm fails, the installer of Bun is run for the same version', () => {
    const host = machine({ npm: BROKEN, curl: CURL });
    const bun = join(host.checkout, '.tools/bin/bun');
    expect(host.ensureBun()).toMatchObject({ exit: 0, bun, version: '1.4.5' });
  });

  test('where neither works, the message says what to do', () => {
    const result = machine({ npm: BROKEN, curl: BROKEN }).ensureBun();
    expect(result.exit).toBe(1);
    expect(result.stderr).toContain('neither npm nor');
    expect(result.stderr).toContain('https://bun.com/docs/installation');
  });
});
