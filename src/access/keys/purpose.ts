/** What a key is for, in words: what it may do, and where from. */
import type { Permission } from '../../platform/http/callers.ts';
import type { KeyRow } from './tables.ts';

/** So many origins are named; further ones are counted. */
export const ORIGINS_NAMED = 2;

/** What is for somebody's own servers. A key without any of it may stand in a page, where all its visitors read it. */
const PRIVATE: readonly Permission[] = ['read', 'write', 'email', 'email_template'];

/** `named`: its first origins, as many as ORIGINS_NAMED. */
export function purposeOf(
  key: Pick<KeyRow, 'restricted' | 'allow_no_origin'>,
  may: ReadonlySet<Permission>,
  origins: { named: readonly string[]; count: number },
): string {
  const acts = actsOf(may, key.restricted);
  if (acts.length === 0) return 'May do nothing';
  const what = acts.length === 1 && acts[0] === SIGN_UPS ? 'sign-ups only' : listed(acts);
  if (!key.restricted) return asSentence(what);
  const is_public = !PRIVATE.some((each) => may.has(each));
  return `${is_public ? `Public: ${what}` : asSentence(what)} from ${placesOf(key.allow_no_origin, origins)}`;
}

const SIGN_UPS = 'takes sign-ups';

function actsOf(may: ReadonlySet<Permission>, is_restricted: boolean): string[] {
  const files = [may.has('read') ? 'reads' : '', may.has('write') ? 'writes' : ''].filter(Boolean);
  const spared = may.has('write') && !may.has('delete') ? ' but deletes none' : '';
  return [
    files.length > 0 ? `${files.join(' and ')} files${spared}` : may.has('upload') ? 'uploads files' : '',
    may.has('email') ? 'sends mail' : may.has('email_template') ? 'sends mail from templates' : '',
    // All that a restricted key may do in marketing.
    may.has('email_marketing') ? (is_restricted ? SIGN_UPS : 'manages email marketing') : '',
    may.has('captcha') ? 'checks captchas' : '',
  ].filter(Boolean);
}

function placesOf(
  is_for_servers: boolean,
  { named, count }: { named: readonly string[]; count: number },
): string {
  const further = count - named.length;
  const places = [
    ...named.map((value) => value.replace(/^https:\/\//, '')),
    ...(further > 0 ? [`${further} more`] : []),
    ...(is_for_servers ? ['servers'] : []),
  ];
  return places.length === 0 ? 'the global origins only' : listed(places);
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

const asSentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
