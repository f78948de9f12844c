/** Doctor beside a server can't look at some things by itself, as only the server has the setting. */
import type { Config } from '../../config.ts';
import type { Finding, FindingStatus } from '../../platform/host/health-check.ts';
import type { ServerNote } from '../../platform/host/server-note.ts';

/** The command tells of findings, and of what it did not look at, which is neither fine nor wrong. */
export type Told = Omit<Finding, 'status'> & { status: FindingStatus | 'not_looked_at' };

/** Has what was found for want of a secret of the server's give way to that nobody looked. */
export function tellUnseen(
  findings: readonly Finding[],
  { object_store, master_key, master_key_file, passphrase }: Config,
  { settings, kept }: ServerNote,
): Told[] {
  const has_own_key = (master_key ?? master_key_file ?? passphrase) !== null;
  const key = kept.find((name) => name === 'SATCHEL_MASTER_KEY' || name === 'SATCHEL_PASSPHRASE');
  const unseen: Told[] = [];
  if (key && !has_own_key)
    unseen.push(
      notLookedAt(
        'master key',
        `Only the server has ${key}. Secrets, and what is asked with their help, were not looked at.`,
      ),
    );
  if (settings.SATCHEL_OBJECT_STORE && !object_store)
    unseen.push(
      notLookedAt(
        'object store',
        'Only the server has the keys of SATCHEL_OBJECT_STORE. What is in the store was not looked at.',
      ),
    );
  const isUnseen = ({ check }: Finding): boolean => unseen.some((each) => each.check === check);
  return [...findings.filter((each) => !isUnseen(each)), ...unseen];
}

function notLookedAt(check: string, message: string): Told {
  return { check, status: 'not_looked_at', message, remedy: null };
}
