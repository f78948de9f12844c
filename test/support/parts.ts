/**
 * Programs of others that some tests drive. `scripts/test.sh` installs what a test file asks for by name where it can, and
 * says what was skipped: `const chromium = part('chromium'); test.skipIf(chromium === null)(...)`.
 */

/** The path of a program, or null where this machine has none. */
export function part(name: 'caddy' | 'chromium' | 'dovecot' | 'nginx'): string | null {
  return Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin` });
}
