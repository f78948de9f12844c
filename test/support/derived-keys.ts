/**
 * The key of a passphrase and its salt is worked out once: a quarter of a second on purpose, for each of the many tests that open
 * one file again. Preloaded (bunfig.toml).
 */
import { mock } from 'bun:test';
import * as argon2 from '@node-rs/argon2';

const derived = new Map<string, Promise<Buffer>>();
const { hashRaw: derive } = argon2;

const hashRaw: typeof derive = async (password, options, signal) => {
  const asked = JSON.stringify([password, options]);
  const key = derived.get(asked) ?? derive(password, options, signal);
  derived.set(asked, key);
  // Whoever has a key may wipe it.
  return Buffer.from(await key);
};

const real = { ...argon2 };
void mock.module('@node-rs/argon2', () => ({ ...real, hashRaw, default: { ...real, hashRaw } }));
