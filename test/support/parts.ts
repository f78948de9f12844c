/**
 * Programs of others that some tests drive. `scripts/test.sh` installs what a test file asks for by name where it can, and
 * says what was skipped: `const chromium = part('chromium'); test.skipIf(chromium === null)(...)`.
 */
import { join } from 'node:path';

/** Where scripts/ensure-test-parts.sh puts what comes from package registries. */
const FROM_REGISTRIES = join(
  process.env.XDG_CACHE_HOME ?? join(process.env.HOME ?? '/tmp', '.cache'),
  'satchel-test-parts/bin',
);

/** The path of a program, or null where this machine has none. */
export function part(
  name:
    | 'caddy'
    | 'chromium'
    | 'chromium-headless-shell'
    | 'dkimproxy-verify'
    | 'dkimverify'
    | 'django-admin'
    | 'dovecot'
    | 'ghost'
    | 'gitea'
    | 'gpg'
    | 'haproxy'
    | 'hvac'
    | 'litestream'
    | 'msmtp'
    | 'nginx'
    | 'openssl'
    | 'pebble'
    | 'php'
    | 'prometheus'
    | 'promtool'
    | 'shellcheck'
    | 'swaks'
    | 'versitygw',
): string | null {
  return Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin:${FROM_REGISTRIES}` });
}
