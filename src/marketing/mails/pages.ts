/**
 * Mails as pages that anybody may open: one that was sent, who has its token; and one of an archive. Neither is tracked, and whatever a
 * template says, nothing of it runs there.
 */
import type { LinkDomains } from '../../access/projects/service.ts';
import { notFound } from '../../errors.ts';
import { EMAIL_BODY_RETENTION_MS } from '../../limits.ts';
import { type EmailRow, emailLife, isBulk } from '../../mail/emails/service.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Beside } from '../../platform/host/beside.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { sameHash } from '../settings/service.ts';
import { FILL_PAGE } from './drafts.ts';
import { type MailLinks, viewUrl } from './following.ts';
import { fillParts, firstNameOfNobody, type OwnLinks, ownLinks, type Values } from './merge-fields.ts';
import {
  readMerge,
  refusalOfSubject,
  subjectOf,
  UNTRACKED_VALUES,
  unsubscribeUrlOf,
  valuesOfNobody,
} from './merging.ts';
import { fillPage } from './showing.ts';
import type { Source } from './source.ts';
import * as store from './store.ts';

/** A source of so many characters takes a millisecond or two; what is longer is filled beside the server. */
const MAX_INLINE_CHARS = 128 * 1024;

interface MailPagesDeps {
  database: Pick<Database, 'read'>;
  clock: Clock;
  link_domains: Pick<LinkDomains, 'baseOf'>;
  links: MailLinks;
  beside: Pick<Beside, 'do'>;
  max_body_bytes: number;
}

/** A source of a project. */
interface SourceRef {
  project_id: number;
  source_id: number;
}

/** What an archive shows a mail of a source with. */
interface ArchivedMail extends SourceRef {
  default_first_name: string;
  links: OwnLinks;
}

export class MailPages {
  constructor(private readonly deps: MailPagesDeps) {}

  /** The mail that a token is of. Null for one that was not made here, for a test, and once its content is no longer kept. */
  find(token: string): EmailRow | null {
    const { database, links, clock } = this.deps;
    const [, id = ''] = /^([0-9a-z]{26})-/.exec(token) ?? [];
    const email = emailLife.find(database.read, id.toUpperCase());
    if (!email || !isBulk(email.source) || email.merge === null) return null;
    if (!sameHash(token, links.viewToken(database.read, email))) return null;
    const ended_at = Math.max(email.created_at, email.sent_at ?? 0);
    return clock.now() - ended_at < EMAIL_BODY_RETENTION_MS ? email : null;
  }

  /** The HTML of a mail that `find` found. Throws AppError `not_found`, and what Beside does. */
  ofMail(email: EmailRow): Promise<string> {
    const { database, link_domains, links } = this.deps;
    const { s: source_id, v } = readMerge(JSON.parse(email.merge ?? '{}'));
    const { project_id, headers, to_email } = email;
    const view_url = viewUrl(link_domains.baseOf(project_id), links.viewToken(database.read, email));
    const own = { ...UNTRACKED_VALUES, email: to_email, ...ownLinks(unsubscribeUrlOf(headers), view_url) };
    return this.#fill({ project_id, source_id }, { ...v, ...own });
  }

  /** The HTML of a mail of an archive. Throws as `ofMail` does. */
  ofArchive({ default_first_name, links, ...ref }: ArchivedMail): Promise<string> {
    return this.#fill(ref, { first_name: firstNameOfNobody(default_first_name), ...links });
  }

  /** What an archive lists of a mail; without a title where it says what nobody in particular has. */
  outlineOf(
    read: Tx,
    ref: SourceRef,
    default_first_name: string,
  ): { title: string | null; summary: string | null } {
    const content = store.findUntracked(read, ref.project_id, ref.source_id);
    if (content === null) return { title: null, summary: null };
    const source = JSON.parse(content) as Source; // Written by MarketingMail alone.
    const { values, missing } = valuesOfNobody(source, default_first_name);
    const title = subjectOf(source, values);
    return missing.length > 0 || refusalOfSubject(title) !== null
      ? { title: null, summary: null }
      : { title, summary: source.preheader && fillParts(source.preheader, values) };
  }

  async #fill({ project_id, source_id }: SourceRef, values: Values): Promise<string> {
    const { database, beside, max_body_bytes } = this.deps;
    const content = store.findUntracked(database.read, project_id, source_id);
    if (content === null) throw notFound('Mail');
    const page = { content, values, max_body_bytes };
    return content.length > MAX_INLINE_CHARS
      ? beside.do({ project_id, field: '_' }, FILL_PAGE, page)
      : fillPage(page);
  }
}

/** Nothing of it runs, whoever wrote it, and no other site learns where it is read. */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src https: http: data:; style-src 'unsafe-inline'; " +
    "font-src https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

/** The answer with the HTML of a mail. */
export function mailPage(html: string, headers: Readonly<Record<string, string>>): Response {
  return new Response(html, { headers: { ...HEADERS, ...headers } });
}
