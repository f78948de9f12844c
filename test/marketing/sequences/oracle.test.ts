/**
 * Random campaigns against the oracle. A difference is told with its seed, which gives it again:
 * `SATCHEL_TEST_SEEDS=17 bun test test/marketing/sequences/oracle.test.ts`, or `1-5000` for many.
 */
import { test } from 'bun:test';
import { Campaign } from './random-campaign.ts';

const [first = 1, last = first] = (process.env.SATCHEL_TEST_SEEDS ?? '1-8').split('-').map(Number);
const seeds = Array.from({ length: last - first + 1 }, (_, n) => first + n);

test.each(seeds)('a campaign of seed %d is as it must be', (seed) => Campaign.run(seed), 60_000);
