/**
 * `bun run check`: format and lint, types, the rules of test/tidy.test.ts, and all tests. `--quick` leaves the tests
 * out. Every check runs even after one has failed; the exit code is the number of checks that failed.
 */
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');
const BUN = process.execPath;

interface Check {
  name: string;
  command: string[];
}

// `--bun` runs a package's own executable with Bun, which works on a machine without Node.
const QUICK: readonly Check[] = [
  { name: 'format and lint', command: [BUN, 'x', '--bun', 'biome', 'check', '--error-on-warnings', '.'] },
  { name: "types of the console's endpoints", command: [BUN, 'scripts/console-types.ts'] },
  { name: 'tables.ts of the schema', command: [BUN, 'scripts/tables.ts', '--check'] },
  { name: 'types', command: [BUN, 'x', '--bun', 'tsc', '--noEmit', '--project', '.'] },
  {
    name: 'types of the console',
    command: [BUN, 'x', '--bun', 'tsc', '--noEmit', '--project', 'src/console/page'],
  },
  { name: 'tidy', command: [BUN, 'test', '--timeout', '60000', 'test/tidy.test.ts'] },
];
const TESTS: Check = { name: 'tests', command: ['bash', 'scripts/test.sh'] };

/** Runs one check with its output on ours. */
function passes(check: Check): boolean {
  process.stderr.write(`--- ${check.name}\n`);
  const result = Bun.spawnSync(check.command, {
    cwd: ROOT,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  });
  return result.success;
}

if (import.meta.main) {
  const flags = process.argv.slice(2);
  if (flags.some((flag) => flag !== '--quick')) {
    process.stderr.write('usage: bun run check [--quick]\n');
    process.exit(2);
  }
  const checks = flags.includes('--quick') ? QUICK : [...QUICK, TESTS];
  const failed = checks.filter((check) => !passes(check)).map((check) => check.name);
  process.stderr.write(
    failed.length === 0 ? '--- all checks passed\n' : `--- failed: ${failed.join(', ')}\n`,
  );
  process.exit(failed.length);
}
