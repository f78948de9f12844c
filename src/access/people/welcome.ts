/** Using a one-time link: it sets a password, and signs nobody in. */
import { AppError, invalid } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { GRANTABLE } from '../../platform/http/callers.ts';
import { hashToken } from '../../platform/secrets/token-format.ts';
import type { Passwords } from './passwords.ts';
import type { WelcomeInput } from './schemas.ts';
import { audit, nameOf, type People, type PeopleDeps } from './service.ts';
import * as store from './store.ts';
import type { LinkRow, PersonRow } from './tables.ts';

export class Welcome {
  constructor(private readonly deps: PeopleDeps & { people: People; passwords: Passwords }) {}

  /** Whose link this is; null: the first person's. Throws AppError `not_found` unless it is good. */
  find(secret: string, read: Tx = this.deps.database.read): { link: LinkRow; person: PersonRow | null } {
    const link = store.findLink(read, hashToken(secret));
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
