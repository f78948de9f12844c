/**
 * Sign-ups by form, their confirmation, and leaving by link: what strangers may do without a key of their
 * own. A sign-up is written down and answered at once, whoever is on the list; what it comes to is decided by
 * its job.
 */

import type { LinkDomains } from '../../access/projects/service.ts';
import { conflict, invalid } from '../../errors.ts';
import type { Emails } from '../../mail/emails/service.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { networkOf } from '../../platform/http/client-ip.ts';
import type { DurableRates, Rate } from '../../platform/http/rate-limit.ts';
import { forgetPayload, listOpenJobsWith, type NewJob, PRIORITY } from '../../platform/jobs/store.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import {
  barOf,
  type ContactRow,
  type Contacts,
  contactAddress,
  hasLeftByChoice,
} from '../contacts/service.ts';
import { type ListRow, type Lists, signUpUrl } from '../lists/service.ts';
import type { KeyOwner, MarketingSettings } from '../settings/service.ts';
import type { Suppressions } from '../suppressions/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import { type Brand, brandOf } from './brand.ts';
import { carryOut, takeConfirmation } from './carrying-out.ts';
import { type Choices, type Chosen, choicesOf, differencesOf, type SentChoices } from './choices.ts';
import { bringBack, explainSignUpOfLeft, signUpsOfLeftHolder } from './coming-back.ts';
import type { LayOut } from './confirmation-mail.ts';
import {
  contactOfToken,
  hashOfToken,
  isTrueToken,
  readTakingBack,
  takingBackValue,
  unsubscribeUrl,
} from './links.ts';
import type { ComingBack } from './schemas.ts';
import { errorsInSignUp, type SignUp } from './sign-ups.ts';
import * as store from './store.ts';

export { type Brand, brandOf, lookOf } from './brand.ts';
export { CONFIRMATION_VALUES } from './confirmation-mail.ts';
export { testUnsubscribeUrl, testViewUrl } from './links.ts';

/** Contract, decisions 19: how long an unsubscription can be taken back on its page. */
export const TAKING_BACK_MS = 10 * 60_000;
/** Contract, Limits: subscribe requests of an IP address an hour. */
const SUBSCRIBES_PER_HOUR = 5;
/** Tries, over hours, of a sign-up whose confirmation finds no mailbox or whose domain no DNS knows. */
const SUBSCRIBE_MAX_ATTEMPTS = 8;

/** The type of the jobs that are sign-ups. */
export const EMAIL_SUBSCRIBE = 'email.subscribe';

const SIGN_UPS: Rate = { limit: SUBSCRIBES_PER_HOUR, per: 'hour', what: 'Sign-ups from this IP address' };

export interface SubscriptionsDeps {
  database: Database;
  clock: Clock;
  contacts: Contacts;
  lists: Lists;
  marketing: MarketingSettings;
  link_domains: Pick<LinkDomains, 'baseOf'>;
  /** Confirmation mails of a project and UTC day at most. */
  confirmations_per_day: number;
  suppressions: Suppressions;
  tracking: Pick<TrackingChoices, 'set' | 'isTracked'>;
  rates: Pick<DurableRates, 'take'>;
  projectOf(
    id: number,
  ): { id: number; public_id: string; name: string; status: 'active' | 'inactive' } | null;
  captcha: {
    isConfigured(project: KeyOwner): boolean;
    /** Null where none can be shown. */
    widgetOf(project: KeyOwner): CaptchaWidget | null;
    verify(project: KeyOwner, question: { token: string; remoteip?: string }): Promise<{ success: boolean }>;
  };
  emails: Pick<Emails, 'acceptConfirmation' | 'countConfirmations'>;
  layOut: LayOut;
  enqueue(tx: Tx, job: NewJob): string;
}

/** What a page within whose form a captcha stands must know of it. */
interface CaptchaWidget {
  /** Where its script, and what that shows in a frame, comes from. */
  origin: string;
  script: string;
  class_name: string;
  site_key: string;
  action: string | null;
}

/** The page where anybody signs up for a list. */
export interface SignUpPage {
  list: ListRow;
  owner: KeyOwner;
  brand: Brand;
  url: string;
  /** Whether only those are tracked who allow it, so that its form asks. */
  asks_for_tracking: boolean;
  /** Null where the project asks for no captcha, or none can be shown. */
  widget: CaptchaWidget | null;
}

/** The contact that a public page is about. */
export interface Visitor {
  contact: ContactRow;
  list: ListRow;
  owner: KeyOwner;
  brand: Brand;
  /** Whether it is counted what they open and click, and that they were here. */
  is_tracked: boolean;
}

/** Whoever confirms a sign-up; `is_test`: that of a test key. */
interface Confirming extends Visitor {
  is_test: boolean;
  /** The evidence that they allowed to be tracked; null where they did not tick that. */
  allowed_tracking: AllowedTracking | null;
  /** Of somebody who had left: their sign-up. */
  comes_back: ComingBack | null;
}

/** When, from where and on which page somebody ticked the box. */
interface AllowedTracking {
  at: number;
  ip: string | null;
  origin: string | null;
}

export class Subscriptions {
  constructor(private readonly deps: SubscriptionsDeps) {}

  /* --- Signing up ------------------------------------------------------------------------------------------------- */

  /** The sign-up page that a token opens; null where there is none (any more). */
  signUpPage(token: string): SignUpPage | null {
    const { captcha, lists, marketing, projectOf, link_domains } = this.deps;
    const list = lists.findBySignUpToken(token);
    const owner = list && projectOf(list.project_id);
    if (!list || owner?.status !== 'active') return null;
    const settings = marketing.settings(owner.id);
    return {
      list,
      owner,
      brand: brandOf(settings, owner.name),
      asks_for_tracking: settings.tracking === 'consented',
      url: signUpUrl(link_domains.baseOf(owner.id), list.public_id),
      widget: captcha.isConfigured(owner) ? captcha.widgetOf(owner) : null,
    };
  }

  /**
   * Throws AppError `conflict` where nobody can sign up by this page, so that nobody fills its form in vain.
   */
  requireForm({ list, owner, widget }: SignUpPage): void {
    this.deps.lists.requireConfirmationTemplate(list);
    if (widget === null && this.deps.captcha.isConfigured(owner))
      throw conflict(
        'This page takes no sign-ups at the moment: the captcha of its project has no site_key, or is none that the page can show.',
        { code: 'captcha_unusable' },
      );
  }

  /** Counts a visitor of a form before it reads what they sent. Throws AppError `rate_limited`. */
  async countVisitor(ip: string): Promise<void> {
    const caller = `subscribe ${networkOf(ip)}`;
    await this.deps.database.write((tx) => this.deps.rates.take(tx, caller, SIGN_UPS));
  }

  /**
   * Takes a sign-up; nothing in its answer or its time tells who is on the list. Throws AppError `invalid`
   * for the address, the names and the captcha, `conflict` where the list takes no sign-ups,
   * `upstream_failed` when the captcha provider is down, and `rate_limited` where a project's confirmation
   * mails of the day are used up.
   */
  async request(
    owner: KeyOwner,
    list: ListRow,
    input: {
      email: string;
      first_name: string | null;
      last_name: string | null;
      captcha_token: string | null;
      tracking: boolean;
    },
    from: { ip: string | null; origin: string | null; is_test: boolean; needs_captcha: boolean },
  ): Promise<void> {
    const { clock, database, lists } = this.deps;
    lists.requireOpen(database.read, list);
    if (list.double_opt_in) lists.requireConfirmationTemplate(list);
    const email = contactAddress(input.email)?.email;
    const needs_captcha = from.needs_captcha && this.deps.captcha.isConfigured(owner);
    const errors = errorsInSignUp(input);
    if (needs_captcha && input.captcha_token === null)
      errors.captcha_token = ["is required: this project verifies its forms' visitors by captcha"];
    if (email === undefined || Object.keys(errors).length > 0) throw invalid(errors);
    if (needs_captcha) await this.#checkCaptcha(owner, input.captcha_token ?? '', from.ip);
    // A form sends what was left empty as such.
    const [first_name, last_name] = [input.first_name || null, input.last_name || null];
    const { ip, origin, is_test } = from;
    const sign_up: SignUp = {
      list_id: list.id,
      email,
      first_name,
      last_name,
      ip,
      origin,
      is_test,
      tracking: input.tracking,
      is_of_mail: false,
      at: clock.now(),
    };
    await database.write((tx) => {
      this.#take(tx, owner, list, sign_up);
    });
  }

  /** Each sign-up counts, with or without a mail: otherwise the count would tell who is on the list. */
  #take(tx: Tx, owner: KeyOwner, list: ListRow, sign_up: SignUp): void {
    if (list.double_opt_in) takeConfirmation(this.deps, tx, owner, 'sign-up');
    this.deps.enqueue(tx, {
      project_id: owner.id,
      type: EMAIL_SUBSCRIBE,
      priority: PRIORITY.transactional,
      payload: { ...sign_up },
      max_attempts: SUBSCRIBE_MAX_ATTEMPTS,
    });
  }

  async #checkCaptcha(owner: KeyOwner, token: string, ip: string | null): Promise<void> {
    const verdict = await this.deps.captcha.verify(owner, {
      token,
      ...(ip === null ? {} : { remoteip: ip }),
    });
    if (!verdict.success) throw invalid({ captcha_token: ['did not pass; let the visitor try again'] });
  }

  /** As `carryOut` of `carrying-out.ts`. */
  carryOut(project_id: number, sign_up: SignUp) {
    return carryOut(this.deps, project_id, sign_up);
  }

  /* --- Pages ------------------------------------------------------------------------------------------------------ */

  /** The confirmation that the token of a confirm link stands for; null when it is unknown or has expired. */
  visitorOfConfirmation(token: string): Confirming | null {
    const found = store.findConfirmation(this.deps.database.read, hashOfToken(token));
    if (!found || found.expires_at <= this.deps.clock.now()) return null;
    const visitor = this.#visitor(this.deps.contacts.findById(found.contact_id));
    const { is_test, comes_back, tracking_at: at, tracking_ip: ip, tracking_origin: origin } = found;
    const allowed_tracking = at === null ? null : { at, ip, origin };
    return visitor && { ...visitor, is_test, comes_back, allowed_tracking };
  }

  /**
   * Makes the contact active whose click it is, of somebody who had left, too, and has the box hold that they ticked. May be repeated.
   * `closed`: the list was archived; `left`: the address was suppressed since.
   */
  confirm(visitor: Confirming): Promise<'confirmed' | 'closed' | 'left'> {
    const { contacts, database, lists, suppressions } = this.deps;
    return database.write((tx) => {
      const found = contacts.findById(visitor.contact.id, tx);
      const list = lists.findById(visitor.list.id, tx);
      const { owner, comes_back } = visitor;
      const is_back = found !== null && comes_back !== null && list?.archived_at === null;
      const contact = is_back ? bringBack(this.deps, tx, owner, { contact: found, comes_back }) : found;
      const bar = contact && barOf(contact, suppressions.checker(tx, visitor.owner));
      if (!contact || !list || bar?.is_suppressed) return 'left';
      if (bar !== null && list.archived_at !== null) return 'closed';
      const { is_test } = visitor;
      if (contacts.confirm(tx, contact, { by: 'click', is_test }).status !== 'active') return 'left';
      const allowed = visitor.allowed_tracking;
      if (allowed) this.deps.tracking.set(tx, contact, { ...allowed, tracking: 'allowed', by: 'form' });
      return 'confirmed';
    });
  }

  /** The contact whose leave the token of an unsubscribe link asks for; null for any that this service did not make. */
  visitorOfUnsubscribe(token: string): Visitor | null {
    const public_id = contactOfToken(token);
    const contact = public_id === null ? null : this.deps.contacts.findByPublicId(public_id);
    const visitor = this.#visitor(contact);
    if (!visitor) return null;
    const hash = this.deps.marketing.keys.find(this.deps.database.read, visitor.owner, 'unsubscribe');
    return hash && isTrueToken(token, visitor.contact.public_id, hash) ? visitor : null;
  }

  /**
   * Takes an address out of everything in its project. May be repeated. Returns what takes that back on the page (see `takeBack`),
   * null for a repeat.
   */
  unsubscribe({ owner, contact }: Visitor): Promise<string | null> {
    const { clock, contacts, database, marketing } = this.deps;
    return database.write((tx) => {
      const left = contacts.leave(tx, owner, contact.email, 'unsubscribed', { is_readers_own: true });
      const hash = marketing.keys.obtain(tx, owner, 'taking_back', clock.now());
      return left.is_new ? takingBackValue(contact.public_id, left.at, hash) : null;
    });
  }

  /**
   * Takes an unsubscription back by what `unsubscribe` returned, for ten minutes: contacts that it changed have their former status
   * unless they changed since, and its suppression goes unless somebody added it too. Returns whether the visitor's address may get
   * mail now; a repeat changes nothing.
   */
  takeBack(
    { owner, contact: { id, public_id, project_id, email } }: Visitor,
    value: string,
  ): Promise<boolean> {
    const { clock, contacts, database, marketing, suppressions } = this.deps;
    return database.write((tx) => {
      const hash = marketing.keys.find(tx, owner, 'taking_back');
      const left_at = hash && readTakingBack(value, public_id, hash);
      if (left_at === null || clock.now() >= left_at + TAKING_BACK_MS) return false;
      const left = contacts.choices.leftAt(tx, { project_id, email, left_at });
      const of = { address: email, left_at, has_contacts: left.length > 0 };
      if (!suppressions.withdraw(tx, owner, of)) return false;
      contacts.choices.comeBack(tx, left);
      const contact = contacts.findById(id, tx);
      return contact !== null && !hasLeftByChoice(contact) && suppressions.checker(tx, owner)(email) === null;
    });
  }

  /** What an address may choose on its page; null for one that is suppressed, which gets nothing to choose from. */
  choicesOf(visitor: Visitor): Choices | null {
    return choicesOf(this.deps, this.deps.database.read, visitor);
  }

  /**
   * Carries out what somebody chose: of the lists that their page showed alone, and only where it differs from what that showed.
   * Throws AppError `rate_limited` for too many sign-ups; then nothing has changed. Null for an address that is suppressed.
   */
  async choose(visitor: Visitor, sent: SentChoices, ip: string | null): Promise<Chosen | null> {
    const { contacts, clock, database, link_domains } = this.deps;
    const wanted = choicesOf(this.deps, database.read, visitor);
    if (wanted && ip !== null && differencesOf(wanted, sent).joined.length > 0) await this.countVisitor(ip);
    return database.write((tx) => {
      const { contact, owner } = visitor;
      const shown = choicesOf(this.deps, tx, visitor);
      if (!shown) return null;
      const { left, joined, pause, tracking } = differencesOf(shown, sent);
      const origin = link_domains.baseOf(owner.id, tx);
      for (const one of left) contacts.choices.leaveList(tx, one);
      contacts.choices.choose(tx, contact, { pause, tracking, ip, origin });
      const { email, first_name, last_name } = contact;
      const from = { ip, origin, is_test: false, tracking: false, is_of_mail: true, at: clock.now() };
      for (const list of joined)
        this.#take(tx, owner, list, { list_id: list.id, email, first_name, last_name, ...from });
      return {
        asked_to_confirm: joined.filter(({ double_opt_in }) => double_opt_in).map(({ name }) => name),
      };
    });
  }

  /** Makes the links by which contacts leave, for mails that the transaction accepts. */
  unsubscribeLinks(tx: Tx, owner: KeyOwner): (contact: Pick<ContactRow, 'public_id'>) => string {
    const hash = this.deps.marketing.keys.obtain(tx, owner, 'unsubscribe', this.deps.clock.now());
    const base = this.deps.link_domains.baseOf(owner.id, tx);
    return ({ public_id }) => unsubscribeUrl(base, public_id, hash);
  }

  /** Sign-ups that are not carried out yet, and the last one of who had left; what else is done keeps no address. */
  holdersOfAddresses(): AddressHolder[] {
    const { database, suppressions } = this.deps;
    const sign_ups: AddressHolder = {
      name: 'sign_ups',
      *find({ id: project_id }, email) {
        const of = [PRIORITY.transactional, EMAIL_SUBSCRIBE, project_id] as const;
        yield listOpenJobsWith(database.read, ...of, 'email', email).map((job) => ({
          show: () => job,
          forget: (tx) => forgetPayload(tx, job.id),
        }));
      },
    };
    return [sign_ups, signUpsOfLeftHolder(database, suppressions)];
  }

  /** What came of the last sign-up of an address that was suppressed then. */
  explainAddress(owner: KeyOwner, email: string): string[] {
    const { database, lists, suppressions } = this.deps;
    const nameOf = (id: number) => lists.findById(id)?.name;
    return explainSignUpOfLeft(database.read, owner, email, { suppressions, nameOf });
  }

  /** Forgets confirmations that have expired. */
  async sweep(): Promise<void> {
    await this.deps.database.writePiece((tx) => store.deleteExpiredConfirmations(tx, this.deps.clock.now()));
  }

  #visitor(contact: ContactRow | null): Visitor | null {
    const list = contact && this.deps.lists.findById(contact.list_id);
    const owner = contact && this.deps.projectOf(contact.project_id);
    if (!contact || !list || !owner) return null;
    const brand = brandOf(this.deps.marketing.settings(owner.id), owner.name);
    const is_tracked = this.deps.tracking.isTracked(this.deps.database.read, contact);
    return { contact, list, owner, brand, is_tracked };
  }
}
