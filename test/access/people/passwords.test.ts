/** Hashing passwords: bounded, and the same work whoever signs in. */
import { describe, expect, test } from 'bun:test';
import argon2 from '@node-rs/argon2';
import { type Argon2, MAX_WAITING_PASSWORD_HASHES, Passwords } from '../../../src/access/people/passwords.ts';

/** The real one, counting, and letting each work begin only when told. */
function countingArgon2() {
  const work: string[] = [];
  let running = 0;
  let most = 0;
  const counted =
    <A extends unknown[], R>(name: string, run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      work.push(name);
      running += 1;
      most = Math.max(most, running);
      try {
        return await run(...args);
      } finally {
        running -= 1;
      }
    };
  const counting: Argon2 = { hash: counted('hash', argon2.hash), verify: counted('verify', argon2.verify) };
  return { passwords: new Passwords(async () => counting), work, most: () => most };
}

test('a hash says how it was made, and fits its password alone', async () => {
  const { passwords } = countingArgon2();
  const hash = await passwords.hash('correct horse');
  expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(await passwords.hash('correct horse')).not.toBe(hash);
  expect(await passwords.verify(hash, 'correct horse')).toBe(true);
  expect(await passwords.verify(hash, 'correct horse ')).toBe(false);
});

test('where there is no hash as much is done as where there is one', async () => {
  const { passwords, work } = countingArgon2();
  const hash = await argon2.hash('correct horse', {
    algorithm: 2,
    memoryCost: 19_456,
    timeCost: 2,
    parallelism: 1,
  });
  for (const first of [null, hash]) {
    await passwords.verify(first, 'wrong horse');
    work.length = 0;
    expect(await passwords.verify(first, 'wrong horse')).toBe(false);
    expect(work).toEqual(['verify']);
  }
});

test('one after the other, and past a bound they are told to come back', async () => {
  const { passwords, most } = countingArgon2();
  const asked = Array.from({ length: MAX_WAITING_PASSWORD_HASHES + 3 }, () => passwords.verify(null, 'x'));
  const outcomes = await Promise.allSettled(asked);
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  expect(refused).toHaveLength(2);
  expect(refused[0]).toMatchObject({ kind: 'unavailable', retry_after_s: 5 });
  expect(most()).toBe(1);
  expect(await passwords.verify(null, 'x')).toBe(false);
});

test('what fails gives its turn back', async () => {
  let is_broken = true;
  const passwords = new Passwords(async () => {
    if (is_broken) throw new Error('no native module');
    return argon2;
  });
  for (let n = 0; n < 3; n += 1) await expect(passwords.hash('x')).rejects.toThrow('no native module');
  is_broken = false;
  expect(await passwords.verify(await passwords.hash('x'), 'x')).toBe(true);
});

const NOBODY = { email: 'ann@example.com', name: null };
const HELEN = { email: 'h.wilde@example.com', name: 'Wilhelmina van der Berg-Ottersen' };

describe('a new password', () => {
  const { passwords } = countingArgon2();

  test.each([
    ['is not the address', 'ANN@example.com', NOBODY],
    ['is none of those that are tried first', 'Sonyericsson', NOBODY],
    ['is none of them in full-width letters', '１２３４５６７８９qwe', NOBODY],
    ['is no way over the keyboard', 'qwertyuiop[]', NOBODY],
    ['is no word with letters put for others', 'p4$$w0rdp4$$w0rd', NOBODY],
    ['is not a letter again and again, however long', 'z'.repeat(256), NOBODY],
    ['is not its strength past the first 64', `${'ab'.repeat(32)}correct horse battery staple`, NOBODY],
    ['is not the first name', 'wilhelmina12', HELEN],
    ['is not a part of a name with a dash', 'ottersen2030', HELEN],
    ['is not the part of the address before the @', 'h.wilde12345', HELEN],
    ['is not a label of its host', 'Gartenzwerge-12', { ...NOBODY, email: 'info@mail.gartenzwerge.example' }],
    ['is not one in another script', 'bücherwurm12', { ...NOBODY, email: 'a@xn--bcherwurm-q9a.example' }],
    ['is not this program', 'satchel12345', HELEN],
  ])('%s', async (_, password, person) => {
    await expect(passwords.requireStrong(password, person)).rejects.toMatchObject({
      ...{
        kind: 'invalid',
        errors: { password: [expect.stringMatching(/must not be the email|four words or more/)] },
      },
    });
  });

  test.each([
    ['may be words that have nothing to do with each other', 'correct horse battery', HELEN],
    ['may be twelve random characters', 'vK3-wq9.xRt2', HELEN],
    ['may be weak past the first 64', `correct horse battery staple${'z'.repeat(200)}`, HELEN],
    ['may be built on the name of somebody else', 'wilhelmina 3rd of june', NOBODY],
    ['may be in any script', 'пароль из четырёх слов', HELEN],
    ['may be emoji', '🔑🧭🍐🦔🎻🪁🧵🛶🥁🪐🧊🦉', HELEN],
  ])('%s', async (_, password, person) => {
    expect(await passwords.requireStrong(password, person)).toBeUndefined();
  });

  test('is judged while everybody else is served, however much work it makes', async () => {
    let turns = 0;
    let is_judged = false;
    const judging = passwords
      .requireStrong('@4^'.repeat(85), NOBODY)
      .catch(() => {})
      .then(() => {
        is_judged = true;
      });
    while (!is_judged) {
      await new Promise(setImmediate);
      turns += 1;
    }
    await judging;
    // On this thread it would be read, made ready and judged in a turn each.
    expect(turns).toBeGreaterThan(50);
  });
});
