/** What a filter must be beyond its shape, for a list: its domains and events are some, and what it names by id is there. */
import { type FieldErrors, refuseAll } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import { EVENT_SLUG, NO_EVENT } from './fields.ts';
import type { ContactFilter } from './filter.ts';
import { type Criteria, criteriaOf, nameOf } from './filter-members-store.ts';
import { sentenceOf } from './filter-words.ts';

const NAMED = [
  ['received', 'broadcast'],
  ['clicked', 'broadcast'],
  ['not_clicked', 'broadcast'],
  ['sequence', 'sequence'],
] as const;

/** What is wrong, by member, behind `path`, such as `filter.`. A test's broadcast counts nowhere, so it is none. */
export function errorsInFilter(read: Tx, list_id: number, filter: ContactFilter, path = ''): FieldErrors {
  const errors: FieldErrors = {};
  filter.domains?.forEach((domain, index) => {
    if (canonicalDomain(domain) === null)
      errors[`${path}domains.${index}`] = ['must be a domain such as example.com, without @ and *'];
  });
  for (const member of ['event', 'no_event'] as const)
    if (filter[member] && !EVENT_SLUG.test(filter[member].name)) errors[`${path}${member}.name`] = [NO_EVENT];
  for (const [member, what] of NAMED) {
    const id = filter[member];
    if (id !== undefined && nameOf(read, list_id, what, id.toUpperCase()) === null)
      errors[path + member] = [
        what === 'broadcast'
          ? 'must be the id of a broadcast of this list that no test key sent'
          : 'must be the id of a sequence of this list',
      ];
  }
  for (const member of ['any', 'none'] as const)
    filter[member]?.forEach((one, index) => {
      Object.assign(errors, errorsInFilter(read, list_id, one, `${path}${member}.${index}.`));
    });
  return errors;
}

/** A filter of a list as one sentence, with what it names by id. */
export function tellFilter(read: Tx, list_id: number, filter: ContactFilter): string {
  return sentenceOf(filter, (what, public_id) => nameOf(read, list_id, what, public_id));
}

/** What a filter of a request asks for. Throws AppError `invalid` by member. */
export function criteriaIn(
  { database, clock }: { database: Database; clock: Clock },
  list_id: number,
  filter: ContactFilter,
): Criteria {
  refuseAll(errorsInFilter(database.read, list_id, filter));
  return criteriaOf(filter, clock.now());
}

/** How many contacts may be asked whether it fits them before others have their turn: `most`, or fewer where it asks for much. */
export function pieceOf({ weight }: Criteria, most: number): number {
  return Math.min(most, Math.max(25, Math.floor(4_000 / Math.max(1, weight))));
}

export function pieceFor(filter: ContactFilter, most: number): number {
  return pieceOf(criteriaOf(filter, 0), most);
}
