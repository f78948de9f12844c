/** One-time links: given out or mailed to people who are added or reset, and used to set a password. */

import type { Config } from '../../config.ts';
import { AppError, conflict, invalid } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { type Actor, GRANTABLE, type ManagementCaller } from '../../platform/http/callers.ts';
import { hashToken, sameHash } from '../../platform/secrets/token-format.ts';
import type { Passwords } from './passwords.ts';
import type { NewPersonInput, PersonInvited, PersonWithLink, WelcomeInput } from './schemas.ts';
import { audit, nameOf, type People, type PeopleDeps } from './service.ts';
import * as store from './store.ts';
import type { LinkRow, PersonRow } from './tables.ts';

/** Sends one mail at once, and answers with the relay's words where it was not taken; null where it was. */
export type SendNotice = (mail: { to: string; subject: string; text: string }) => Promise<string | null>;

interface InvitationsDeps {
  database: Database;
  clock: Clock;
  people: People;
  public_url: string;
}

export class Invitations {
  readonly #deps: InvitationsDeps;
  #prepare: () => SendNotice = () => {
    throw conflict('There is no mail here.', { code: 'no_mailbox' });
  };

  constructor(deps: InvitationsDeps) {
    this.#deps = deps;
  }

  /** Sets who sends. `prepare` throws AppError `conflict` (no_mailbox, public_url) if nothing can go. */
  mailBy(prepare: () => SendNotice): void {
    this.#prepare = prepare;
  }

  /** As `People.add`. With `send` the link is mailed instead of answered. Throws AppError `conflict`. */
  add(
    actor: Actor,
    giver: ManagementCaller | null,
    { send = false, ...input }: NewPersonInput,
  ): Promise<PersonWithLink | PersonInvited> {
    return this.#invite(actor, send, INVITATION, (onAllowed) =>
      this.#deps.people.add(actor, giver, input, onAllowed),
    );
  }

  /** As `People.reset`; with `send` as `add`. */
  reset(
    actor: Actor,
    giver: ManagementCaller | null,
    person: PersonRow,
    { send = false, totp = false }: { send?: boolean; totp?: boolean },
  ): Promise<PersonWithLink | PersonInvited> {
    return this.#invite(actor, send, RESET, (onAllowed) =>
      this.#deps.people.reset(actor, giver, person, { totp }, onAllowed),
    );
  }

  async #invite(
    actor: Actor,
    is_sent: boolean,
    words: { subject: string; why: string },
    make: (onAllowed: () => void) => Promise<PersonWithLink>,
  ): Promise<PersonWithLink | PersonInvited> {
    if (!is_sent) return make(() => {});
    let send: SendNotice | null = null;
    const { link, ...person } = await make(() => {
      send = this.#prepare();
    });
    const { database, clock, public_url } = this.#deps;
    const { host } = new URL(public_url);
    const mail = {
      to: person.email,
      subject: `${words.subject} ${host}`,
      text: textOf(words.why, host, link),
    };
    const problem = send === null ? null : await (send as SendNotice)(mail); // Assigned in the callback above.
    const sent = problem === null;
    await database.write((tx) =>
      audit(tx, actor, 'person.invited', person, { email: person.email, sent }, clock.now()),
    );
    return sent ? { ...person, sent } : { ...person, sent, words: problem };
  }
}

const INVITATION = { subject: 'Your invitation to', why: 'You are invited to the console of Satchel at' };
const RESET = {
  subject: 'A new password for',
  why: 'You are to choose a new password for the console of Satchel at',
};

function textOf(why: string, host: string, link: string): string {
  return `${why} ${host}.

Choose your password here:
${link}

The link is good once, for 24 hours. If you did not expect this mail, leave it alone.
`;
}

export class Welcome {
  constructor(
    private readonly deps: PeopleDeps & {
      people: People;
      passwords: Passwords;
      config: Pick<Config, 'welcome_token'>;
    },
  ) {}

  /** Whether SATCHEL_WELCOME_TOKEN makes the first person: none has ever been. */
  isTokenGood(read: Tx = this.deps.database.read): boolean {
    return this.deps.config.welcome_token !== null && !this.deps.people.hasEverBeenAnybody(read);
  }

  /** Whose link this is; null: the first person's. Throws AppError `not_found` unless it is good. */
  find(secret: string, read: Tx = this.deps.database.read): { link: LinkRow; person: PersonRow | null } {
    const link = store.findLink(read, hashToken(secret)) ?? this.#linkOfSettings(secret, read);
    const person = link?.person_id ? store.findPerson(read, link.person_id) : null;
    const is_meant = link?.person_id ? person !== null : store.countPeople(read) === 0;
    if (!link || link.expires_at <= this.deps.clock.now() || !is_meant) {
      throw new AppError(
        'not_found',
        'This link is no longer good. Whoever gave it to you can make a new one.',
      );
    }
    return { link, person };
  }

  /** That which SATCHEL_WELCOME_TOKEN makes, where it is this one. */
  #linkOfSettings(secret: string, read: Tx): LinkRow | null {
    const { welcome_token } = this.deps.config;
    const token_hash = hashToken(secret);
    const is_it = welcome_token !== null && sameHash(hashToken(welcome_token), token_hash);
    return is_it && this.isTokenGood(read)
      ? { token_hash, person_id: null, expires_at: Number.POSITIVE_INFINITY }
      : null;
  }

  /**
   * Sets the password, or makes the first person, who has everything. Throws AppError `not_found`, and
   * `invalid`, after which the link is still good.
   */
  async use(secret: string, input: WelcomeInput, ip: string | null): Promise<void> {
    const { database, clock, passwords, people } = this.deps;
    const { person } = this.find(secret);
    const { email, name = null } = person ?? input;
    if (email === undefined) throw invalid({ email: ['is required'] });
    await passwords.requireStrong(input.password, { email, name });
    const password_hash = await passwords.hash(input.password);
    const now = clock.now();
    await database.write((tx) => {
      // Looked up again within the write: of two who use it at once, one is second.
      const { link, person } = this.find(secret, tx);
      store.deleteLinksOf(tx, link.person_id);
      if (person) store.updatePerson(tx, person.id, { password_hash, updated_at: now });
      const row =
        person ??
        people.insert(
          tx,
          { email, name, password_hash },
          { capabilities: new Set(GRANTABLE), read_only: false, all_projects: true, project_ids: [] },
          now,
        );
      const actor = { kind: 'person', id: String(row.id), name: nameOf(row), ip } as const;
      audit(tx, actor, person ? 'person.password_set' : 'person.created', row, { email: row.email }, now);
    });
  }
}
