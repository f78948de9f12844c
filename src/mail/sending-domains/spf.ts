/**
 * SPF as receivers evaluate it (RFC 7208): one record, terms that they know, and no more than ten look-ups in
 * all.
 */
import { isIPv4, isIPv6 } from 'node:net';
import { isLoopback } from '../../platform/http/hosts.ts';
import type { Resolver } from '../../platform/mail/dns.ts';
import { isVerdict, MISSING, type RecordVerdict, recordsOf, unknown, wrong } from './record-judging.ts';

/** RFC 7208 4.6.4: receivers give up on an SPF record that takes more. */
const SPF_MAX_LOOKUPS = 10;

interface Mechanism {
  qualifier: string;
  name: string;
  /** The text behind the colon; empty where there is none. */
  domain: string;
}

interface Policy {
  mechanisms: Mechanism[];
  redirect: string | null;
}

/** What a policy came to, whatever host asks. */
interface Walk {
  lookups: number;
  /** Why receivers give up on it; the first reason is told. */
  problem: string | null;
  /** Why nobody knows. */
  unanswered: string | null;
  lets_everybody: boolean;
}

/** Judges a domain's SPF. Whether it covers the relay only the relay's owner knows. */
export async function checkSpf(resolver: Resolver, domain: string): Promise<RecordVerdict> {
  const found = await findRecord(resolver, domain);
  if (typeof found !== 'string') return found;
  const policy = parsePolicy(found);
  if (typeof policy === 'string') return wrong(found, policy);
  const walk: Walk = { lookups: 0, problem: null, unanswered: null, lets_everybody: false };
  await follow(resolver, policy, walk);
  if (walk.problem !== null) return wrong(found, walk.problem);
  if (walk.unanswered !== null) return unknown(walk.unanswered);
  if (walk.lets_everybody) return wrong(found, 'The record lets everybody send (+all).');
  const senders = policy.mechanisms.filter(({ name, qualifier }) => name !== 'all' && qualifier === '+');
  if (senders.length === 0 && policy.redirect === null) return wrong(found, 'The record lets nobody send.');
  return { status: 'found', found, problem: null };
}

async function findRecord(resolver: Resolver, domain: string): Promise<string | RecordVerdict> {
  const records = recordsOf(await resolver.lookupTxt(domain));
  if (isVerdict(records)) return records;
  const spf = records.filter((record) => /^v=spf1(\s|$)/i.test(record));
  const [only] = spf;
  if (only === undefined) return MISSING;
  if (spf.length === 1) return only;
  return wrong(spf.join(' | '), 'There are several SPF records; receivers then use none of them.');
}

/** Adds up what evaluating a policy to its end takes, and finds what ends it early. */
async function follow(resolver: Resolver, policy: Policy, walk: Walk): Promise<void> {
  for (const { name, qualifier, domain } of policy.mechanisms) {
    // What stands behind it is never looked at.
    if (name === 'all') {
      walk.lets_everybody ||= qualifier === '+';
      return;
    }
    if (!['include', 'a', 'mx', 'ptr', 'exists'].includes(name)) continue;
    if (!countLookup(walk)) return;
    if (name === 'include') await followTo(resolver, domain, walk);
    if (walk.problem !== null || walk.unanswered !== null) return;
  }
  if (policy.redirect !== null && countLookup(walk)) await followTo(resolver, policy.redirect, walk);
}

function countLookup(walk: Walk): boolean {
  walk.lookups += 1;
  if (walk.lookups <= SPF_MAX_LOOKUPS) return true;
  walk.problem = `The record takes more than ${SPF_MAX_LOOKUPS} look-ups; receivers then use none of it. Take out what no longer sends.`;
  return false;
}

async function followTo(resolver: Resolver, domain: string, walk: Walk): Promise<void> {
  // Macros are filled in with facts of the mail that nobody has yet.
  if (domain.includes('%')) return;
  const found = await findRecord(resolver, domain);
  if (typeof found === 'string') {
    const policy = parsePolicy(found);
    if (typeof policy === 'string') walk.problem = `Of ${domain}, which the record names: ${policy}`;
    else await follow(resolver, policy, walk);
  } else if (found.status === 'unknown') walk.unanswered = `${domain}: ${found.problem}`;
  else if (found.status === 'missing') walk.problem = `The record names ${domain}, which has no SPF record.`;
  else walk.problem = `Of ${domain}, which the record names: ${found.problem}`;
}

/** The terms of a record, or what is wrong with them. */
function parsePolicy(record: string): Policy | string {
  const policy: Policy = { mechanisms: [], redirect: null };
  const modifiers = new Set<string>();
  for (const term of record.trim().split(/ +/).slice(1)) {
    const modifier = /^([a-z][a-z0-9._-]*)=(.*)$/i.exec(term);
    if (modifier) {
      const [, name = '', value = ''] = modifier;
      const known = name.toLowerCase();
      if (known !== 'redirect' && known !== 'exp') continue;
      if (modifiers.has(known)) return `The record has ${known}= twice.`;
      if (value === '') return `The record has a ${known}= that names no domain.`;
      modifiers.add(known);
      if (known === 'redirect') policy.redirect = value;
      continue;
    }
    const mechanism = parseMechanism(term);
    if (typeof mechanism === 'string') return mechanism;
    policy.mechanisms.push(mechanism);
  }
  return policy;
}

const MECHANISMS = ['all', 'include', 'a', 'mx', 'ptr', 'exists', 'ip4', 'ip6'];

function parseMechanism(term: string): Mechanism | string {
  const [, sign = '', word = '', rest = ''] = /^([-+~?]?)([a-z0-9]+)((?:[:/].*)?)$/i.exec(term) ?? [];
  const name = word.toLowerCase();
  if (!MECHANISMS.includes(name)) return `The record has a term that receivers do not know: ${term}`;
  const qualifier = sign || '+';
  if (name === 'ip4' || name === 'ip6')
    return isNetwork(name, rest) ? { qualifier, name, domain: '' } : badNetwork(term);
  const [, domain_part = '', lengths = ''] = /^([^/]*)(.*)$/.exec(rest) ?? [];
  const domain = domain_part.slice(1);
  // A macro may have slashes of its own.
  if (rest.includes('%{')) return { qualifier, name, domain: rest.slice(1) };
  const takes_domain = name !== 'all';
  if (domain_part !== '' && (domain === '' || !takes_domain))
    return `The record has a term that is written wrong: ${term}`;
  if (domain === '' && (name === 'include' || name === 'exists'))
    return `The record has a term that names no domain: ${term}`;
  if (lengths !== '' && !((name === 'a' || name === 'mx') && areLengths(lengths))) return badNetwork(term);
  return { qualifier, name, domain };
}

/** What may stand behind the domain of `a` and `mx`: `/24`, `//64` or `/24//64`. */
function areLengths(text: string): boolean {
  const found = /^(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/.exec(text);
  return found !== null && Number(found[1] ?? 0) <= 32 && Number(found[2] ?? 0) <= 128;
}

function isLength(text: string, max: number): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) <= max;
}

function isNetwork(name: 'ip4' | 'ip6', rest: string): boolean {
  const [address = '', length, ...more] = rest.slice(1).split('/');
  const is_address = name === 'ip4' ? isIPv4(address) : isIPv6(address);
  return (
    is_address && more.length === 0 && (length === undefined || isLength(length, name === 'ip4' ? 32 : 128))
  );
}

function badNetwork(term: string): string {
  return `The record has a network that is none: ${term}`;
}

/* --- What sends for a domain -------------------------------------------------------------------------------------- */

/** What providers ask their customers to include, by the hosts that they give them for submission. */
const PROVIDERS: readonly { hosts: RegExp; include: string }[] = [
  { hosts: /^email-smtp(-fips)?\.[a-z0-9-]+\.amazonaws\.com$/, include: 'amazonses.com' },
  { hosts: /(^|\.)sendgrid\.net$/, include: 'sendgrid.net' },
  { hosts: /(^|\.)mailgun\.org$/, include: 'mailgun.org' },
  { hosts: /(^|\.)postmarkapp\.com$/, include: 'spf.mtasv.net' },
  { hosts: /(^|\.)(brevo|sendinblue)\.com$/, include: 'spf.brevo.com' },
  { hosts: /(^|\.)mailjet\.com$/, include: 'spf.mailjet.com' },
  { hosts: /(^|\.)(gmail|google|googlemail)\.com$/, include: '_spf.google.com' },
  { hosts: /(^|\.)(office365|outlook|hotmail)\.com$/, include: 'spf.protection.outlook.com' },
  { hosts: /(^|\.)(fastmail|messagingengine)\.com$/, include: 'spf.messagingengine.com' },
];

/** The terms of SPF for these relays, each once. */
export function sendersOf(relays: readonly string[]): string[] {
  const seen = relays.map((host) => host.toLowerCase()).filter(isSeenByReceivers);
  return [...new Set(seen.map(senderOf))];
}

/**
 * A relay on this machine, or one with a name of the local network alone, sends from an address that only its
 * owner knows.
 */
function isSeenByReceivers(host: string): boolean {
  return !isLoopback(host) && (host.includes('.') || host.includes(':'));
}

function senderOf(host: string): string {
  const provider = PROVIDERS.find(({ hosts }) => hosts.test(host));
  if (provider) return `include:${provider.include}`;
  if (host.includes(':')) return `ip6:${host}`;
  return isIPv4(host) ? `ip4:${host}` : `a:${host}`;
}
