/**
 * Ends what tests leave running and removes what they leave lying. Preloaded (bunfig.toml), because a hook in a helper
 * holds only for the first test file that imports it.
 */
import { afterAll } from 'bun:test';

const cleanups: (() => unknown)[] = [];

/** Runs after the tests: what was made last is undone first. */
export function atEnd(cleanup: () => unknown): void {
  cleanups.push(cleanup);
}

afterAll(async () => {
  for (let cleanup = cleanups.pop(); cleanup !== undefined; cleanup = cleanups.pop()) await cleanup();
});
