/** Argon2id, by a native module. A compiled executable unpacks it into the temporary folder at first use. */
import { AppError } from '../../errors.ts';

export type Argon2 = typeof import('@node-rs/argon2');

/** Throws AppError `unavailable`, which names the setting, where it can't be unpacked there or run. */
export async function loadArgon2(
  load: () => Promise<Argon2> = () => import('@node-rs/argon2'),
): Promise<Argon2> {
  try {
    return await load();
  } catch (cause) {
    const message =
      'Passwords and passphrases need a folder for temporary files, and this one can not be used: set TMPDIR to a folder that exists, ' +
      'that the user of this process may write to, and whose files may be run (not mounted with noexec).';
    throw new AppError('unavailable', message, { cause });
  }
}
