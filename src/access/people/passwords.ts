/** Passwords: how hard they are to guess, and hashing and checking them without holding anything else up. */

import { domainToUnicode } from 'node:url';
import { AppError, invalid } from '../../errors.ts';
import { JUDGED_PASSWORD_CHARS, MIN_PASSWORD_SCORE } from '../../limits.ts';
import { requireThreadDescriptors } from '../../platform/host/shortages.ts';
import { askOnce } from '../../platform/host/threads.ts';
import { loadArgon2 } from '../../platform/secrets/sealing.ts';
import type { PersonRow } from './tables.ts';

/** Decision (OWASP's first choice): argon2id with 19 MiB, 2 passes, 1 lane takes some 25 ms. */
const PASSWORD_MEMORY_KIB = 19 * 1024;
const PASSWORD_PASSES = 2;
const PASSWORD_LANES = 1;

/** One after the other: the pool of threads that hashes is the one that files are read and written by. */
const PASSWORD_HASHES_AT_ONCE = 1;
/** So many sign-ins may wait, some two seconds of work; past it 503. */
export const MAX_WAITING_PASSWORD_HASHES = 80;

/** Algorithm.Argon2id: a `const enum` has no value at run time where modules are compiled one by one. */
const ARGON2ID = 2;
const SETTING = {
  algorithm: ARGON2ID,
  memoryCost: PASSWORD_MEMORY_KIB,
  timeCost: PASSWORD_PASSES,
  parallelism: PASSWORD_LANES,
};

/** Unicode's composed form: keyboards and systems differ in how they put accented letters together. */
const canonical = (password: string): string => password.normalize('NFKC');

const TOO_EASY =
  'is too easily guessed: take four words or more that have nothing to do with each other, or as many random characters as it ' +
  'must have, and build on neither your name nor your address nor "satchel"';

/** What somebody who knows the person tries first, as single words: pieces of them would not be found. */
function ownWordsOf({ email, name }: Pick<PersonRow, 'email' | 'name'>): string[] {
  const of_name = canonical(name ?? '').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const at = email.lastIndexOf('@');
  // A label that is not ASCII is stored as `xn--...`, which nobody types.
  const labels = domainToUnicode(email.slice(at + 1)).split('.');
  return [...of_name, email.slice(0, at), ...labels.map(canonical), 'satchel'];
}

export type Argon2 = Pick<Awaited<ReturnType<typeof loadArgon2>>, 'hash' | 'verify'>;

function loadInThread(): Promise<Argon2> {
  requireThreadDescriptors();
  return loadArgon2();
}

/** Hashing, only so many at once: a flood of sign-ins must not take all memory and threads. */
export class Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** Checked in place of a password that is not there: it takes as long, and nothing fits it. */
  #stand_in: Promise<string> | null = null;

  /** Loaded at first use, as it unpacks a native module; tests replace it. */
  constructor(private readonly load: () => Promise<Argon2> = loadInThread) {}

  /** The argon2id hash, with its salt and setting. Throws AppError `unavailable` when too many wait. */
  hash(password: string): Promise<string> {
    return this.#inTurn(async (argon2) => argon2.hash(canonical(password), SETTING));
  }

  /** Whether the password fits. Without a hash: the same work, then false. Throws AppError `unavailable`. */
  async verify(hash: string | null, password: string): Promise<boolean> {
    return this.#inTurn(async (argon2) => {
      this.#stand_in ??= argon2.hash(crypto.randomUUID(), SETTING);
      const stand_in = await this.#stand_in;
      return (await argon2.verify(hash ?? stand_in, canonical(password))) && hash !== null;
    });
  }

  /**
   * Judges a new password, besides its length, by the guesses of somebody who knows whose it is. Throws
   * AppError `invalid` for the address or one that is easily guessed, and `unavailable` when too many wait.
   */
  async requireStrong(password: string, person: Pick<PersonRow, 'email' | 'name'>): Promise<void> {
    const text = canonical(password);
    if (text.toLowerCase() === person.email.toLowerCase()) {
      throw invalid({ password: ['must not be the email address'] });
    }
    const judged = [...text].slice(0, JUDGED_PASSWORD_CHARS).join('');
    const score = await this.#inTurn(() => scoreOf(judged, ownWordsOf(person)));
    if (score < MIN_PASSWORD_SCORE) throw invalid({ password: [TOO_EASY] });
  }

  async #inTurn<T>(work: (argon2: Argon2) => Promise<T>): Promise<T> {
    if (this.#running >= PASSWORD_HASHES_AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING_PASSWORD_HASHES) {
        throw new AppError(
          'unavailable',
          'Too many are signing in at the moment. Try again in a few seconds.',
          {
            retry_after_s: 5,
          },
        );
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work(await this.load());
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}

export interface StrengthRequest {
  password: string;
  /** Words that are guessed before any other. */
  own_words: readonly string[];
}

/** zxcvbn's score: 0 (a thousand guesses) to 4 (over ten thousand million). Throws AppError `unavailable`. */
export function scoreOf(password: string, own_words: readonly string[]): Promise<number> {
  const start = (): Worker => new Worker(new URL('./password-strength.worker.ts', import.meta.url));
  return askOnce<StrengthRequest, number>(start, { password, own_words });
}
