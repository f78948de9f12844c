/** Passwords: which are good enough, and hashing and checking them without holding anything else up. */
import { AppError } from '../errors.ts';
import {
  MAX_WAITING_PASSWORD_HASHES,
  PASSWORD_HASHES_AT_ONCE,
  PASSWORD_LANES,
  PASSWORD_MEMORY_KIB,
  PASSWORD_PASSES,
} from '../limits.ts';

/** Algorithm.Argon2id: a `const enum` has no value at run time where modules are compiled one by one. */
const ARGON2ID = 2;
const SETTING = {
  algorithm: ARGON2ID,
  memoryCost: PASSWORD_MEMORY_KIB,
  timeCost: PASSWORD_PASSES,
  parallelism: PASSWORD_LANES,
};

/** One text, however a keyboard or system composes its letters. */
const canonical = (password: string): string => password.normalize('NFKC');

/**
 * What is wrong with a new password besides its length, to go on after the name of its field; null where nothing is. The list
 * of common ones is read when it is asked for: that happens a few times in a person's life.
 */
export async function weaknessOf(password: string, email: string): Promise<string | null> {
  const folded = canonical(password).toLowerCase();
  if (folded === email.toLowerCase()) return 'must not be the email address';
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const is_common = dictionary['passwords-common'].some((common) => common.toLowerCase() === folded);
  return is_common ? 'is among the most common passwords, which are tried first: choose another' : null;
}

export type Argon2 = Pick<typeof import('@node-rs/argon2'), 'hash' | 'verify'>;

/** Hashing, a bounded number at once: a flood of sign-ins takes neither the memory nor the threads of everybody else. */
export class Passwords {
  readonly #load: () => Promise<Argon2>;
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** What is checked for somebody who has no password: it takes as long, and nothing fits it. */
  #stand_in: Promise<string> | null = null;

  /** Loaded where it is needed, as it unpacks a native module; tests put another one in its place. */
  constructor(load: () => Promise<Argon2> = () => import('@node-rs/argon2')) {
    this.#load = load;
  }

  /** The argon2id hash, with its salt and setting. Throws AppError `unavailable` when too many wait. */
  hash(password: string): Promise<string> {
    return this.#inTurn(async (argon2) => argon2.hash(canonical(password), SETTING));
  }

  /** Whether the password fits; where there is no hash, false after the same work. Throws AppError `unavailable`. */
  async verify(hash: string | null, password: string): Promise<boolean> {
    return this.#inTurn(async (argon2) => {
      this.#stand_in ??= argon2.hash(crypto.randomUUID(), SETTING);
      const stand_in = await this.#stand_in;
      return (await argon2.verify(hash ?? stand_in, canonical(password))) && hash !== null;
    });
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
      return await work(await this.#load());
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
