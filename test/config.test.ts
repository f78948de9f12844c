/** Settings and flags: what a complaint calls them. Which values are refused is in e2e/serve.test.ts. */
import { expect, test } from 'bun:test';
import { loadConfig } from '../src/config.ts';

test.each([
  [{ SATCHEL_PORT: '99999' }, {}, 'SATCHEL_PORT'],
  [{ SATCHEL_PORT: '8080' }, { port: '99999' }, '--port'],
  [{}, { host: 'a b' }, '--host'],
  [{}, { public_url: 'files.example.com' }, '--public-url'],
  [{}, { public_url: 'https://files.example.com/?a' }, '--public-url'],
])('%j with the flags %j is refused by the name of what was given', (env, flags, named) => {
  expect(() => loadConfig(env, flags)).toThrow(new RegExp(`^${named} must`));
});
