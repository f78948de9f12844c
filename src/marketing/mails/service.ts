/**
 * Marketing mail: what is accepted of it (values, and the source that they are merged into), and rendering it
 * as it is sent or shown.
 */
import type { LinkDomains, Projects } from '../../access/projects/service.ts';
import type { Config } from '../../config.ts';
import { AppError } from '../../errors.ts';
import { MAX_SUBJECT_CHARS } from '../../limits.ts';
import {
  type EmailRow,
  type Emails,
  emailLife,
  type NewEmail,
  sentMails,
} from '../../mail/emails/service.ts';
import { CompiledCache, type TemplateState, type Templates } from '../../mail/templates/service.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Beside } from '../../platform/host/beside.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { FramedBodies } from '../../platform/mail/types.ts';
import type { ListRow } from '../lists/service.ts';
import type { KeyOwner, MarketingSettings, Settings } from '../settings/service.ts';
import { type Subscriptions, testUnsubscribeUrl, testViewUrl } from '../subscriptions/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import { COMPOSE, LACKS_OF_NOBODY, OUTLOOK, SHOW } from './drafts.ts';
import { linkToken, MailLinks, viewUrl } from './following.ts';
import { type FramedSource, frameSource, mostBytesOf, refuseTooLarge } from './frame.ts';
import { brandOf } from './layout.ts';
import { fillParts, type MergeContact, type OwnLinks, ownLinks, shownOf, targetOf } from './merge-fields.ts';
import {
  type Merge,
  mailHeaders,
  makesNoMail,
  readMerge,
  refusalOfMissing,
  refusalOfSubject,
  subjectOf,
  UNTRACKED_VALUES,
  unsubscribeUrlOf,
  valuesOf,
  withoutContactFields,
} from './merging.ts';
import { MailPages } from './pages.ts';
import { type MailOutlook, mergedContact, type ShownMail, type ToShow, UNSEEN } from './showing.ts';
import { type ComposedTwice, type Link, type Source, type SourceInput, tryToCompose } from './source.ts';
import * as store from './store.ts';

export { Clicks, type FollowedLink, OPENED_BY_MACHINE, type Reading, readAt } from './clicks.ts';
export { brandOf, layOutBodies } from './layout.ts';
export { contactOfMail, lastMailsTo, makesNoMail, readVariables } from './merging.ts';
export { mailPage } from './pages.ts';
export { type MailOutlook, type ShownMail, UNSEEN } from './showing.ts';

/** Sources of marketing mail held in memory, as parsed: some dozens with a body of 100 KB. */
const MAX_SOURCES_CACHE_BYTES = 16 * 1024 * 1024;
/** Which source a combination of template, variables and settings has: a line each, begun anew when full. */
const MAX_SOURCE_NAMES = 2_000;
/** Gmail shows these identifiers in its reports; a longer one tells nobody more. */
const MAX_FEEDBACK_TAG_CHARS = 60;

/** The project whose mail it is. */
export interface MailOwner extends KeyOwner {
  name: string;
}

/** What the mail of a sequence's step, or of a broadcast, is made from, whoever gets it. */
export interface Mailing {
  source: 'sequence' | 'broadcast';
  owner: MailOwner;
  list: Pick<ListRow, 'public_id' | 'token_hosts' | 'language'>;
  /** Its slug. */
  template: string;
  variables: Readonly<Record<string, string>>;
  /** In place of the template's. */
  subject?: string | undefined;
  preheader: string | null;
  settings: Settings;
  track_opens: boolean;
  /** What links that are counted gain; null for nothing. */
  utm: Link['utm'];
  /** For a test key: captured, never delivered. */
  is_test: boolean;
  /** The name that large receivers report on: the id of the sequence or broadcast. */
  email_tag: string;
}

/** What of it decides how its mails look. */
export type ShownMailing = Pick<
  Mailing,
  'owner' | 'list' | 'variables' | 'subject' | 'preheader' | 'settings' | 'track_opens' | 'utm'
>;

/** In whose turn what is beside the server is done. */
const besideOf = ({ id }: MailOwner) => ({ project_id: id, field: '_' });

/** What a mail needs of its contact. */
export interface MailContact extends MergeContact {
  id: number;
  public_id: string;
  email: string;
  contact_token: string;
}

/**
 * A mail to accept, or why there is none. `is_template` where the template is at fault, so that no contact
 * gets one until it is mended.
 */
export type MailPlan = { ok: true; email: NewEmail; is_untracked: boolean } | Refusal;
interface Refusal {
  ok: false;
  is_template: boolean;
  reason: string;
}

/** A source with the id under which it is stored. */
interface StoredSource {
  id: number;
  source: Source;
}

export interface MarketingMailDeps {
  clock: Clock;
  database: Pick<Database, 'read'>;
  marketing: MarketingSettings;
  templates: Templates;
  subscriptions: Pick<Subscriptions, 'unsubscribeLinks'>;
  tracking: Pick<TrackingChoices, 'isTracked'>;
  emails: Pick<Emails, 'renderWith'>;
  beside: Pick<Beside, 'do'>;
  link_domains: Pick<LinkDomains, 'baseOf'>;
  config: Pick<Config, 'public_url'>;
  max_body_bytes: number;
  projectOf(id: number): KeyOwner | null;
  projects: Pick<Projects, 'requireActive'>;
}

export class MarketingMail {
  /** By hash, not by id: an id whose transaction was undone may be given to another source. */
  readonly #sources = new CompiledCache<FramedSource, string>(MAX_SOURCES_CACHE_BYTES);
  /** The hash of the source that a combination has. */
  readonly #hashes = new Map<string, string>();
  /** Sources that are about to be stored. */
  readonly #composed = new CompiledCache<ComposedTwice, string>(MAX_SOURCES_CACHE_BYTES);
  /** The links of mails, as they are followed. */
  readonly links: MailLinks;
  readonly pages: MailPages;

  constructor(private readonly deps: MarketingMailDeps) {
    this.links = new MailLinks(deps);
    this.pages = new MailPages({ ...deps, links: this.links });
    const render = (tx: Tx, merge: Readonly<Record<string, unknown>>, email: EmailRow) =>
      this.render(tx, readMerge(merge), email);
    for (const source of ['sequence', 'broadcast', 'test'] as const) deps.emails.renderWith(source, render);
  }

  /* --- Planning --------------------------------------------------------------------------------------------------- */

  /** The mail to a contact as things stand now, within the transaction that accepts it. */
  plan(tx: Tx, of: Mailing, contact: MailContact): MailPlan {
    const made = this.#sourceOf(tx, of);
    if (!made.ok) return made;
    return this.#planFor(tx, of, made, contact, this.deps.subscriptions.unsubscribeLinks(tx, of.owner));
  }

  /** Composes what all mails of a mailing share, as things stand now. Returns its id, for `planner`. */
  fix(tx: Tx, of: Mailing): { ok: true; id: number } | Refusal {
    return this.#sourceOf(tx, of);
  }

  /** For mails to many contacts from what was put together before, whatever became of the template since. */
  planner(tx: Tx, of: Mailing): (source_id: number, contact: MailContact) => MailPlan {
    const linkFor = this.deps.subscriptions.unsubscribeLinks(tx, of.owner);
    return (id, contact) => {
      const framed = this.#load(tx, of.owner.id, id);
      if (!framed) throw new AppError('internal', 'What a mail is made from is no longer kept.');
      return this.#planFor(tx, of, { id, source: framed.source }, contact, linkFor);
    };
  }

  #planFor(
    tx: Tx,
    of: Mailing,
    made: StoredSource,
    contact: MailContact,
    linkFor: (contact: MailContact) => string,
  ): MailPlan {
    const { id: contact_id, email: to } = contact;
    const { source, owner } = of;
    const unsubscribe_url = linkFor(contact);
    const is_untracked = !this.deps.tracking.isTracked(tx, { project_id: owner.id, email: to });
    const mail = { contact_id, to, unsubscribe_url, source, prefix: '' };
    return is_untracked
      ? this.#mailOf(of, this.#untracked(tx, owner.id, made.source), {
          ...mail,
          contact: { ...contact, ...UNTRACKED_VALUES },
          is_untracked,
        })
      : this.#mailOf(of, made, { ...mail, contact, is_untracked });
  }

  /** What is sent in place of a source to those whose opens and clicks are not counted. */
  #untracked(read: Tx, project_id: number, { untracked = '' }: Source): StoredSource {
    const id = store.findSourceId(read, project_id, untracked);
    const framed = id === null ? null : this.#load(read, project_id, id, untracked);
    if (id === null || !framed) throw new AppError('internal', 'A source has none without tracking.');
    return { id, source: framed.source };
  }

  /** Takes from a mail that waits what would tell that it is read: its address is no longer tracked. */
  untrack(tx: Tx, project_id: number, email_id: string): void {
    const { merge } = sentMails.find(tx, email_id) ?? {};
    const merged = merge ? readMerge(JSON.parse(merge)) : null;
    const framed = merged && this.#load(tx, project_id, merged.s);
    if (!merged || framed?.source.untracked === undefined) return;
    const s = this.#untracked(tx, project_id, framed.source).id;
    const v = 'contact_token' in merged.v ? { ...merged.v, ...UNTRACKED_VALUES } : merged.v;
    emailLife.mergeAnew(tx, email_id, { ...merged, s, v });
  }

  /**
   * The mail as a test: to whomever, marked in its subject, with sample values. Its links lead where they do
   * and are not counted, the one that unsubscribes does nothing. Throws AppError `conflict` project_inactive.
   */
  planTest(tx: Tx, of: Mailing, to: string): MailPlan {
    const { clock, marketing, projects } = this.deps;
    projects.requireActive(of.owner.id, tx);
    marketing.keys.obtain(tx, of.owner, 'click', clock.now());
    const made = this.#sourceOf(tx, { ...of, track_opens: false });
    const { unsubscribe_url } = this.testLinks(of.owner.id, tx);
    const as = { source: 'test', prefix: TEST_PREFIX, unsubscribe_url, is_untracked: false } as const;
    return made.ok ? this.#mailOf(of, made, { ...as, contact: null, contact_id: null, to }) : made;
  }

  #mailOf(
    of: Mailing,
    { id, source }: StoredSource,
    mail: {
      /** Null: samples. */
      contact: MergeContact | null;
      contact_id: number | null;
      to: string;
      unsubscribe_url: string;
      source: NewEmail['source'];
      prefix: string;
      is_untracked: boolean;
    },
  ): MailPlan {
    const { owner, list, settings } = of;
    const merged = valuesOf(source, of.variables.default_first_name ?? '', mail.contact);
    const { missing } = merged;
    if (missing.length > 0) return { ok: false, is_template: false, reason: refusalOfMissing(missing) };
    const values = { ...merged.values, email: mail.to, ...ownLinks(mail.unsubscribe_url, '') };
    const subject = subjectOf(source, values);
    const refused = refusalOfSubject(subject);
    if (refused !== null) return { ok: false, is_template: false, reason: refused };
    const merge: Merge = { s: id, v: merged.values, c: mail.contact_id };
    return {
      ok: true,
      is_untracked: mail.is_untracked,
      email: {
        project_id: owner.id,
        api_key_id: null,
        is_test: of.is_test,
        source: mail.source,
        to: mail.to,
        to_name: null,
        cc: [],
        bcc: [],
        from_name: settings.from_name,
        reply_to: settings.reply_to,
        subject: prefixed(mail.prefix, subject),
        content: { merge: { ...merge } },
        template: of.template,
        domain: null,
        attachments: [],
        scheduled_at: null,
        client: null,
        headers: mailHeaders({
          public_url: this.deps.config.public_url,
          unsubscribe_url: mail.unsubscribe_url,
          list_id: list.public_id,
          project_id: owner.public_id,
          kind: of.source,
          tag: of.email_tag.slice(0, MAX_FEEDBACK_TAG_CHARS),
        }),
        // Named mailboxes that were removed count, too: with none left, mail waits and goes out from no other.
        allowed_mailboxes: settings.accounts,
      },
    };
  }

  /**
   * What a mail would come to for a contact, or a sample: its subject and preheader, null where they can't be
   * made, and why the mail itself can't, as far as its values are at fault. Stores nothing. Throws what
   * Beside does.
   */
  async outlookOf(read: Tx, of: Mailing, contact: ToShow['contact']): Promise<MailOutlook> {
    const row = this.deps.templates.rowOf(read, of.owner.id, of.template);
    if (!row) return UNSEEN;
    return this.deps.beside.do(besideOf(of.owner), OUTLOOK, this.toShow(of, row, contact));
  }

  /** A mailing's mail of a template, as its reader sees it. Throws AppError `invalid`, and what Beside does. */
  show(of: ShownMailing, template: SourceInput['template'], contact: ToShow['contact']): Promise<ShownMail> {
    return this.deps.beside.do(besideOf(of.owner), SHOW, this.toShow(of, template, contact));
  }

  /** What `show` shows. Without a contact there are samples. */
  toShow(of: ShownMailing, template: SourceInput['template'], contact: ToShow['contact']): ToShow {
    return {
      input: { ...this.#inputOf(of), template },
      default_first_name: of.variables.default_first_name ?? '',
      contact: contact && mergedContact(contact),
      links: this.testLinks(of.owner.id),
      max_body_bytes: this.deps.max_body_bytes,
    };
  }

  /** The links of a mail that nobody is to leave by, nor to read again. */
  testLinks(project_id: number, read?: Tx): OwnLinks {
    const base = this.deps.link_domains.baseOf(project_id, read);
    return ownLinks(testUnsubscribeUrl(base), testViewUrl(base));
  }

  /** Names of the mail that have no value where nobody is meant, as in an archive. Throws what Beside does. */
  async lacksOfNobody(read: Tx, of: Mailing): Promise<string[]> {
    const row = this.deps.templates.rowOf(read, of.owner.id, of.template);
    return row ? this.deps.beside.do(besideOf(of.owner), LACKS_OF_NOBODY, this.toShow(of, row, null)) : [];
  }

  /* --- Sources ---------------------------------------------------------------------------------------------------- */

  #inputOf({ owner, list, variables, subject, preheader, settings, track_opens, utm }: ShownMailing) {
    const { from_name, postal_address, view_link } = settings;
    const brand = brandOf(owner, settings);
    return {
      values: {
        ...withoutContactFields(variables),
        brand_name: brand.brand_name,
        ...(from_name === null ? {} : { from_name }),
        ...(postal_address === null ? {} : { postal_address }),
      },
      brand,
      language: list.language,
      subject,
      preheader,
      token_hosts: list.token_hosts,
      view_link,
      public_url: this.deps.link_domains.baseOf(owner.id),
      track_opens,
      utm,
    };
  }

  /**
   * Has the source of a mailing composed beside the server, unless it is known: who wrote it decides how long that takes. Throws
   * AppError `invalid` where it takes too long, and what Beside throws.
   */
  async prepare(read: Tx, of: Mailing): Promise<void> {
    const state = this.deps.templates.stateOf(read, of.owner.id, of.template);
    const template = state && this.deps.templates.rowOf(read, of.owner.id, of.template);
    if (!state || !template) return;
    const input = this.#inputOf(of);
    const name = nameOf(state, input);
    if (this.#hashes.has(name) || this.#composed.get(name, SAME)) return;
    const beside = { project_id: of.owner.id, field: 'template' };
    const composed = await this.deps.beside.do(beside, COMPOSE, { ...input, template });
    // Two bodies, twice.
    this.#composed.set(name, SAME, composed, 8 * JSON.stringify(template).length);
  }

  /** The source of a mailing as things stand now, stored if it is new. */
  #sourceOf(tx: Tx, of: Mailing): ({ ok: true } & StoredSource) | Refusal {
    const state = this.deps.templates.stateOf(tx, of.owner.id, of.template);
    const refusal = refusalOf(state);
    if (!state || refusal !== null)
      return { ok: false, is_template: true, reason: `The template ${of.template} ${refusal}.` };
    const input = this.#inputOf(of);
    const name = nameOf(state, input);
    const known = this.#hashes.get(name);
    const known_id = known === undefined ? null : store.findSourceId(tx, of.owner.id, known);
    const held = known_id === null ? null : this.#load(tx, of.owner.id, known_id, known);
    if (known_id !== null && held) return { ok: true, id: known_id, source: held.source };
    const template = this.deps.templates.rowOf(tx, of.owner.id, of.template);
    if (!template) throw new AppError('internal', 'A template went while it was read.');
    const composed = this.#composed.get(name, SAME) ?? tryToCompose({ ...input, template });
    if (composed instanceof AppError)
      return { ok: false, is_template: true, reason: makesNoMail(of.template, composed) };
    const untracked = this.#keep(tx, of.owner.id, composed.untracked);
    const { source, links } = composed.tracked;
    const tracked = { ...source, untracked: untracked.hash };
    const { id, hash } = this.#keep(tx, of.owner.id, { source: tracked, links });
    if (this.#hashes.size >= MAX_SOURCE_NAMES) this.#hashes.clear();
    this.#hashes.set(name, hash);
    return { ok: true, id, source: tracked };
  }

  /** Stores a source with its links, unless it is stored already. */
  #keep(
    tx: Tx,
    project_id: number,
    { source, links }: { source: Source; links: readonly Link[] },
  ): { id: number; hash: string } {
    const content = JSON.stringify(source);
    const stored = links.map(({ target, token_hosts, utm }) => ({
      target: JSON.stringify(target),
      token_hosts: token_hosts && JSON.stringify(token_hosts),
      utm: utm && JSON.stringify(utm),
    }));
    const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify([content, stored])).digest('hex');
    const id =
      store.findSourceId(tx, project_id, hash) ??
      store.insertSource(tx, { project_id, hash, created_at: this.deps.clock.now(), content }, stored);
    return { id, hash };
  }

  /** Null where it is no longer kept. */
  #load(
    read: Tx,
    project_id: number,
    id: number,
    hash: string | null = store.findSourceHash(read, project_id, id),
  ): FramedSource | null {
    if (hash === null) return null;
    const held = this.#sources.get(hash, SAME);
    if (held) return held;
    const content = store.findSource(read, project_id, id);
    if (content === null) throw new AppError('internal', 'The content of a source went while it was read.');
    const source = JSON.parse(content) as Source; // Written by `#sourceOf` alone.
    const framed = frameSource(source, hash);
    this.#sources.set(hash, SAME, framed, 4 * content.length);
    return framed;
  }

  /* --- Rendering -------------------------------------------------------------------------------------------------- */

  /**
   * What a mail says, the same each time, whatever became of its template, settings and contact since. Throws
   * AppError `not_found` where its source is gone, `invalid` for a body that its values made too long.
   */
  render(tx: Tx, merge: Merge, email: EmailRow): FramedBodies {
    const framed = this.#load(tx, email.project_id, merge.s);
    if (!framed) throw new AppError('not_found', 'What the email was rendered from is no longer kept.');
    const { source, frame, holes } = framed;
    const hash = this.links.hashOf(tx, email.project_id);
    if (!hash) throw new AppError('not_found', "The project's marketing key is gone.");
    const view_url = viewUrl(source.public_url, this.links.viewToken(tx, email));
    const own = ownLinks(unsubscribeUrlOf(email.headers), view_url);
    const merged = { ...merge.v, email: email.to_email, ...own };
    const tokenAt = (position: number): string =>
      linkToken({ email_id: email.id, source_id: merge.s, position }, hash);
    const linkAt = (position: number): string => {
      const target = source.open_targets[position];
      if (!target) return tokenAt(position);
      return targetOf(target, merged)
        ? `${source.public_url}/c/${tokenAt(position)}`
        : fillParts(target, merged);
    };
    const values = holes.map((hole) => (typeof hole === 'number' ? linkAt(hole) : shownOf(hole, merged)));
    const bodies = { frame, values };
    if (mostBytesOf(framed, values) > this.deps.max_body_bytes)
      refuseTooLarge(bodies, this.deps.max_body_bytes);
    return bodies;
  }

  /** The addresses of the links of sources, by source and position. Merge fields show as `{{name}}`. */
  linksOf(read: Tx, source_ids: readonly number[]): { source_id: number; position: number; url: string }[] {
    return store.listLinks(read, source_ids).map(({ source_id, position, target }) => {
      const parts = JSON.parse(target) as Link['target']; // Written by `#sourceOf` alone.
      const url = parts.map((part) => (typeof part === 'string' ? part : `{{${part[0]}}}`)).join('');
      return { source_id, position, url };
    });
  }
}

/** By what a source is told from others. */
function nameOf({ id, updated_at }: TemplateState, input: object): string {
  return JSON.stringify([id, updated_at, input]);
}

/** Cached by hash, so it never changes. */
const SAME = 0;

/** Why a template makes no marketing mail; null when it does. */
function refusalOf(state: TemplateState | null): string | null {
  if (!state) return 'does not exist';
  if (!state.is_marketing) return 'is not for marketing (is_marketing)';
  return state.is_active ? null : 'is inactive';
}

const TEST_PREFIX = '[Test] ';

/** The subject of a mail that is a test. */
export function markAsTest(subject: string): string {
  return prefixed(TEST_PREFIX, subject);
}

function prefixed(prefix: string, subject: string): string {
  return [...(prefix + subject)].slice(0, MAX_SUBJECT_CHARS).join('');
}
