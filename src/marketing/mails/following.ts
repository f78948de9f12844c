/**
 * Following the links of marketing mail: where they lead, and whether that is counted. Their tokens say which mail, which source and
 * which link, with a keyed hash; those of the mail in a browser say which mail.
 */
import type { Config } from '../../config.ts';
import { type EmailRow, isBulk, sentMails } from '../../mail/emails/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { type KeyedHash, type KeyOwner, type MarketingSettings, sameHash } from '../settings/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import { readUtm, withUtm } from './links.ts';
import { targetOf } from './merge-fields.ts';
import { addContactToken, mergedOf } from './merging.ts';
import { type Link, pictureAt } from './source.ts';
import * as store from './store.ts';

/** Where a followed link leads. */
interface Followed extends LinkName {
  url: string;
  /** False for a test's mail, and for one whose row is gone. */
  is_counted: boolean;
}

interface MailLinksDeps {
  marketing: Pick<MarketingSettings, 'keys'>;
  tracking: Pick<TrackingChoices, 'isTracked'>;
  projectOf(id: number): KeyOwner | null;
  config: Pick<Config, 'public_url'>;
}

/** In place of a source's id, in the picture of a mail that has none of ours. */
const NO_SOURCE = 0;

export class MailLinks {
  /** Project keys, opened once: every link of every mail is made with one. */
  readonly #hashes = { click: new Map<number, KeyedHash>(), view: new Map<number, KeyedHash>() };

  constructor(private readonly deps: MailLinksDeps) {}

  /** Where a link leads; null for a token that was not made here, and for one whose target is gone. */
  follow(read: Tx, token: string): Followed | null {
    const name = readLinkToken(token);
    const row = name && this.#foundBy(read, token, name, (id) => store.findLink(read, id, name.position));
    if (!name || !row) return null;
    const mail = sentMails.find(read, name.email_id);
    const is_tracked = this.#isTracked(read, row.project_id, mail);
    const { v, is_kept } = mergedOf(mail?.merge ?? null);
    const target = JSON.parse(row.target) as Link['target']; // Written by MarketingMail alone.
    if (!is_kept && target.some((part) => typeof part !== 'string')) return null;
    const url = targetOf(target, { ...v, email: mail?.to_email ?? '' });
    if (!url) return null;
    const hosts: unknown = row.token_hosts === null ? [] : JSON.parse(row.token_hosts);
    if (
      is_tracked &&
      mail?.source !== 'test' &&
      v.contact_token !== undefined &&
      Array.isArray(hosts) &&
      hosts.includes(url.hostname)
    )
      addContactToken(url, v.contact_token);
    return {
      ...name,
      url: row.utm !== null && is_tracked ? withUtm(url.href, readUtm(row.utm)) : url.href,
      is_counted: is_kept && is_tracked && mail !== null && isBulk(mail.source),
    };
  }

  /** The picture of a mail that has no source of ours; null while its project has no key to make links with. */
  pictureOf(read: Tx, { email_id, project_id }: { email_id: string; project_id: number }): string | null {
    const hash = this.hashOf(read, project_id);
    const token = hash && linkToken({ email_id, source_id: NO_SOURCE, position: 0 }, hash);
    return token && pictureAt(`${this.deps.config.public_url}/o/${token}.gif`);
  }

  /** The mail whose picture or hidden link a token is of; null for one that was not made here. */
  mailOf(read: Tx, token: string): { email_id: string; is_counted: boolean } | null {
    const name = readLinkToken(token);
    if (name?.position !== 0) return null;
    const owner = this.#ownerBy(read, token, name);
    if (!owner) return null;
    const mail = sentMails.find(read, name.email_id);
    const is_tracked = this.#isTracked(read, owner.project_id, mail);
    const is_counted = mail !== null && (isBulk(mail.source) || mail.source === 'mailgun');
    return { email_id: name.email_id, is_counted: is_tracked && is_counted };
  }

  /** Whether what its reader does is counted, as things stand now: of one that was sent before, too. */
  #isTracked(read: Tx, project_id: number, mail: { to_email: string } | null): boolean {
    return mail !== null && this.deps.tracking.isTracked(read, { project_id, email: mail.to_email });
  }

  /** The project whose mail a link's token is of; null for one that was not made here. */
  projectOfLink(read: Tx, token: string): number | null {
    const name = readLinkToken(token);
    return (name && this.#ownerBy(read, token, name)?.project_id) ?? null;
  }

  #ownerBy(read: Tx, token: string, name: LinkName): { project_id: number } | null {
    return this.#foundBy(read, token, name, (id) =>
      id === NO_SOURCE ? sentMails.find(read, name.email_id) : store.findSourceOwner(read, id),
    );
  }

  /**
   * What a token names, if its project made the token: by the source's id here, or by its id before the
   * project moved here.
   */
  #foundBy<T extends { project_id: number }>(
    read: Tx,
    token: string,
    { source_id }: LinkName,
    find: (source_id: number) => T | null,
  ): T | null {
    const made = (id: number): T | null => {
      const found = find(id);
      const hash = found && this.hashOf(read, found.project_id);
      return hash && isTrueLinkToken(token, hash) ? found : null;
    };
    const found = made(source_id);
    if (found) return found;
    for (const id of store.listFormerlyNamed(read, source_id)) {
      const one = made(id);
      if (one) return one;
    }
    return null;
  }

  /** What makes the tokens of a project's links; null where it made none. */
  hashOf(read: Tx, project_id: number, purpose: 'click' | 'view' = 'click'): KeyedHash | null {
    const held = this.#hashes[purpose].get(project_id);
    if (held) return held;
    const owner = this.deps.projectOf(project_id);
    const hash = owner && this.deps.marketing.keys.find(read, owner, purpose);
    if (hash) this.#hashes[purpose].set(project_id, hash);
    return hash;
  }

  /** The token of a mail in a browser; '' for a project that made no links. */
  viewToken(read: Tx, { id, project_id }: Pick<EmailRow, 'id' | 'project_id'>): string {
    const hash = this.hashOf(read, project_id, 'view');
    return hash ? `${id.toLowerCase()}-${hash(id).slice(0, VIEW_MAC_CHARS)}` : '';
  }
}

/** 128 of the 256 bits, as of the link to unsubscribe, which is in that mail. */
const VIEW_MAC_CHARS = 32;

export function viewUrl(base: string, token: string): string {
  return `${base}/view/${token}`;
}

/**
 * What a token says. Position 0 is the mail's own: its picture (below /o/) and its hidden link (below /c/).
 */
export interface LinkName {
  email_id: string;
  source_id: number;
  position: number;
}

/**
 * 64 of the 256 bits of the hash. Each guess is a request, so nobody tries 2^63 of them; and links stay
 * short.
 */
const MAC_CHARS = 16;
/** Lower case only, as some scanners change links to lower case. */
const TOKEN = /^([0-9a-z]{26})([0-9a-z]{1,10})-([0-9a-z]{1,4})-([0-9a-f]{16})$/;

export function linkToken({ email_id, source_id, position }: LinkName, hash: KeyedHash): string {
  const name = `${email_id.toLowerCase()}${source_id.toString(36)}-${position.toString(36)}`;
  return `${name}-${hash(name).slice(0, MAC_CHARS)}`;
}

/**
 * What a token claims to name; null for what is no token. `isTrueLinkToken` says whether this server made it.
 */
export function readLinkToken(token: string): LinkName | null {
  const [, email_id = '', source_id = '', position = ''] = TOKEN.exec(token) ?? [];
  if (email_id === '') return null;
  return {
    email_id: email_id.toUpperCase(),
    source_id: Number.parseInt(source_id, 36),
    position: Number.parseInt(position, 36),
  };
}

export function isTrueLinkToken(token: string, hash: KeyedHash): boolean {
  const end = token.length - MAC_CHARS;
  return sameHash(token.slice(end), hash(token.slice(0, end - 1)).slice(0, MAC_CHARS));
}
