/** Judging the records of a sending domain as receivers do: what is there, and what is wrong with it. */
import type { Lookup, Resolver } from '../../platform/mail/dns.ts';
import type { RecordCheck } from './schemas.ts';

export type RecordVerdict = Pick<RecordCheck, 'status' | 'found' | 'problem'>;

export const MISSING: RecordVerdict = { status: 'missing', found: null, problem: 'There is no such record.' };

export function wrong(found: string, problem: string): RecordVerdict {
  return { status: 'wrong', found, problem };
}

export function unknown(reason: string): RecordVerdict {
  return {
    status: 'unknown',
    found: null,
    problem: `The DNS gave no answer, so nothing is known: ${reason}.`,
  };
}

/** The records that a look-up found, or the verdict where nobody answered. */
export function recordsOf(lookup: Lookup<string>): string[] | RecordVerdict {
  if (lookup.status === 'unknown') return unknown(lookup.reason);
  return lookup.status === 'absent' ? [] : lookup.records;
}

export function isVerdict(records: string[] | RecordVerdict): records is RecordVerdict {
  return !Array.isArray(records);
}

export function judgeOwnership(lookup: Lookup<string>, value: string): RecordVerdict {
  const records = recordsOf(lookup);
  if (isVerdict(records)) return records;
  if (records.some((record) => record.trim() === value))
    return { status: 'found', found: value, problem: null };
  const other = records.find((record) => record.startsWith('satchel-verification='));
  return other === undefined ? MISSING : wrong(other, 'The record holds another token.');
}

/** RFC 6376 3.6.1: one record, for mail, in use, and with our key. */
export function judgeDkim(lookup: Lookup<string>, public_key: string): RecordVerdict {
  const records = recordsOf(lookup);
  if (isVerdict(records)) return records;
  const [only] = records;
  if (only === undefined) return MISSING;
  if (records.length > 1)
    return wrong(records.join(' | '), 'There are several records; receivers then may take any of them.');
  const problem = findDkimProblem(only, public_key);
  return problem === null ? { status: 'found', found: only, problem: null } : wrong(only, problem);
}

function findDkimProblem(record: string, public_key: string): string | null {
  const tags = tagsOf(record);
  const list = (tag: string): string[] | undefined =>
    tags
      .get(tag)
      ?.toLowerCase()
      .split(/\s*:\s*/);
  const [first] = tags.keys();
  if (tags.has('v') && (first !== 'v' || tags.get('v') !== 'DKIM1'))
    return 'The record has a v= that is not DKIM1, or not at its beginning.';
  if ((tags.get('k') ?? 'rsa').toLowerCase() !== 'rsa') return 'The key is marked as no RSA key (k=).';
  if (!(list('h') ?? ['sha256']).includes('sha256'))
    return 'The record does not take SHA-256 (h=), which mail is signed with.';
  if (!(list('s') ?? ['*']).some((service) => service === '*' || service === 'email'))
    return 'The key is not for email (s=).';
  if (list('t')?.includes('y'))
    return 'The record says that the domain is only testing (t=y): receivers then take mail for unsigned.';
  const key = tags.get('p')?.replace(/\s+/g, '');
  if (key === undefined) return 'The record has no key (p=).';
  if (key === '') return 'The key is revoked: p= is empty.';
  return key === public_key ? null : 'The record holds another key than the one mail is signed with.';
}

/** RFC 7489 6.6.3: the policy of the domain itself, else that of the next parent which has one. */
export async function checkDmarc(resolver: Resolver, domain: string): Promise<RecordVerdict> {
  const labels = domain.split('.');
  for (let start = 0; start <= labels.length - 2; start += 1) {
    const verdict = judgeDmarc(await resolver.lookupTxt(`_dmarc.${labels.slice(start).join('.')}`));
    if (verdict.status !== 'missing') return verdict;
  }
  return MISSING;
}

function judgeDmarc(lookup: Lookup<string>): RecordVerdict {
  const records = recordsOf(lookup);
  if (isVerdict(records)) return records;
  const policies = records.filter((record) => /^v\s*=\s*DMARC1\s*(;|$)/.test(record));
  const [only] = policies;
  if (only === undefined) return MISSING;
  if (policies.length > 1)
    return wrong(policies.join(' | '), 'There are several DMARC records; receivers then use none of them.');
  const policy = tagsOf(only).get('p')?.toLowerCase() ?? '';
  return ['none', 'quarantine', 'reject'].includes(policy)
    ? { status: 'found', found: only, problem: null }
    : wrong(only, 'The record has no policy: p= must be none, quarantine or reject.');
}

function tagsOf(record: string): Map<string, string> {
  return new Map(
    record
      .split(';')
      .filter((tag) => tag.trim() !== '')
      .map((tag) => {
        const at = tag.indexOf('=');
        return [tag.slice(0, Math.max(at, 0)).trim().toLowerCase(), tag.slice(at + 1).trim()];
      }),
  );
}
