/** Argon2id, by a native module. A compiled executable unpacks it into the temporary folder at first use. */
import { AppError } from '../../errors.ts';
import { asCaller } from '../host/ownership.ts';

export type Argon2 = typeof import('@node-rs/argon2');

/** Throws AppError `unavailable`, which names the setting, where it can't be unpacked there or run. */
export async function loadArgon2(load: () => Argon2 | Promise<Argon2> = requireArgon2): Promise<Argon2> {
  try {
    return await load();
  } catch (cause) {
    const message =
      'Passwords and passphrases need a folder for temporary files, and this one can not be used: set TMPDIR to a folder that exists, ' +
      'that the user of this process may write to, and whose files may be run (not mounted with noexec).';
    throw new AppError('unavailable', message, { cause });
  }
}

/** At once, and as root where root acts as another user: who may write to the file that is unpacked runs code in this process. */
function requireArgon2(): Argon2 {
  return asCaller(() => require('@node-rs/argon2'));
}
