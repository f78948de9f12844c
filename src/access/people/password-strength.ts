/**
 * How many guesses a password takes, estimated in a thread: that reads a list of 50,000 passwords, and may
 * take a tenth of a second. It happens a few times in a person's life, so the thread then ends.
 */
import { askOnce } from '../../platform/host/threads.ts';

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
