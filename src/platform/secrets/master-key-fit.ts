/** Whether the master key of the settings is the one that a database needs. Changes nothing. */
import type { Config } from '../../config.ts';
import { AppError, messageOf } from '../../errors.ts';
import {
  deriveMasterKey,
  findKeyInFiles,
  masterKeySourceOf,
  parseMasterKey,
  readKeyFile,
  settingOf,
} from './master-key-source.ts';
import type { MasterKey } from './sealing.ts';

/** `missing`: no key is at hand, so nothing is known. */
type MasterKeyFit =
  | { fit: 'fits'; key: MasterKey }
  | { fit: 'missing'; message: string }
  | { fit: 'differs'; message: string };

/** What a database says of its key. */
export interface KeyDemand {
  master_key_id: string;
  passphrase_salt: string | null;
}

/** Compares the key of the settings with the demand of a database or a backup. */
export async function judgeMasterKey(config: Config, demand: KeyDemand): Promise<MasterKeyFit> {
  const source = masterKeySourceOf(config);
  const setting = settingOf(source);
  const needed = `the key ${demand.master_key_id} is needed`;
  try {
    let key: MasterKey | null;
    if (source.kind === 'key') key = parseMasterKey(source.text);
    else if (source.kind === 'file')
      // A rotation that was cut off leaves two keys; the database says which of them counts.
      key = findKeyInFiles(source.path, demand.master_key_id) ?? readKeyFile(source);
    else if (demand.passphrase_salt !== null)
      key = await deriveMasterKey(source.passphrase, demand.passphrase_salt);
    else
      return {
        fit: 'differs',
        message: `${setting} is set, but ${needed}, and it comes from no passphrase.`,
      };
    if (key === null) return { fit: 'missing', message: `${setting} is missing; ${needed}.` };
    if (key.id === demand.master_key_id) return { fit: 'fits', key };
    return { fit: 'differs', message: `${setting} gives the key ${key.id}, but ${needed}.` };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { fit: 'differs', message: `${messageOf(error)} (${needed}.)` };
  }
}
