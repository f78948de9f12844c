/**
 * Doctor beside a running server has the server look: it alone has all settings, and its own view of the network.
 * By itself doctor can't look at what only the server has the setting of.
 */
import type { Config } from '../../config.ts';
import { MAX_PER_PAGE } from '../../limits.ts';
import { type Finding, type FindingStatus, ok } from '../../platform/host/health-check.ts';
import { askNoted, type ServerNote } from '../../platform/host/server-note.ts';
import { t } from '../../platform/http/schema.ts';
import { parse } from '../../platform/http/validation.ts';
import { finding } from './service.ts';

/** Decision: how long the server may look. */
const DEADLINE_MS = 2 * 60_000;

const page = t.Object({ data: t.Array(finding), meta: t.Object({ has_more: t.Boolean() }) });

/** Asks the server of a note for its findings. Rejects where it does not answer, or not in time. */
export async function askServer(
  note: ServerNote,
  { is_deep, deadline_ms = DEADLINE_MS }: { is_deep: boolean; deadline_ms?: number },
): Promise<Finding[]> {
  const signal = AbortSignal.timeout(deadline_ms);
  const findings: Finding[] = [];
  for (let n = 1; ; n += 1) {
    const query = new URLSearchParams({ per_page: String(MAX_PER_PAGE), page: String(n) });
    if (is_deep) query.set('deep', 'true');
    const answer = parse(page, JSON.parse(await askNoted(note, `/api/public/v1/findings?${query}`, signal)));
    findings.push(...answer.data);
    if (!answer.meta.has_more) return findings;
  }
}

/* --- Where the server does not say ---------------------------------------------------------------------------------- */

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
  return { ...ok(check, message), status: 'not_looked_at' };
}
