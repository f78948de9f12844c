/**
 * How many guesses a password takes, estimated in a thread of its own: that reads a list of 50,000 passwords and can take a tenth
 * of a second. It happens a few times in a person's life, so the thread ends with it.
 */
import { AppError } from '../../errors.ts';
import { requireThreadDescriptors } from '../../platform/host/descriptors.ts';

export interface StrengthRequest {
  password: string;
  /** Words that are guessed before any other. */
  own_words: readonly string[];
}

export interface StrengthReply {
  score: number;
}

/** zxcvbn's score: 0 (a thousand guesses) to 4 (more than ten thousand million). Throws AppError `unavailable`. */
export async function scoreOf(password: string, own_words: readonly string[]): Promise<number> {
  requireThreadDescriptors();
  const worker = new Worker(new URL('./password-strength.worker.ts', import.meta.url));
  try {
    return await new Promise<number>((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<StrengthReply>) => resolve(data.score);
      worker.onerror = ({ message }) => reject(new AppError('internal', message));
      worker.postMessage({ password, own_words } satisfies StrengthRequest);
    });
  } finally {
    worker.terminate();
  }
}
