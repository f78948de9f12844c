/** Hashing of passwords for all tests but those of hashing itself: a sign-in is then what it is without 25 ms of a processor. */
import argon2 from '@node-rs/argon2';
import type { Argon2 } from '../../src/access/people/passwords.ts';

/** The least of memory and passes that argon2id can be asked for. */
const CHEAP = { memoryCost: 8, timeCost: 1, parallelism: 1 };

export const loadCheapArgon2 = async (): Promise<Argon2> => ({
  hash: (password, setting) => argon2.hash(password, { ...setting, ...CHEAP }),
  verify: argon2.verify,
});
