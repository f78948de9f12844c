/** What the contacts of a list can be told apart by: their tags, custom fields and events, and how many have each. */
import type { Database } from '../../platform/database/database.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { Static } from '../../platform/http/schema.ts';
import type { ListRow, Lists } from '../lists/service.ts';
import { type CustomValue, type facets, MAX_FACETS } from './schemas.ts';
import * as store from './store.ts';

/** Contract: values of a custom field, and the contacts among which they are looked for. */
const MAX_SAMPLES = 5;
const SAMPLED_CONTACTS = 1_000;
/** Contacts that are read before others have their turn: with the largest fields some megabytes. */
const SAMPLE_PIECE = 50;

/** Counts by what was counted as contacts changed: it costs the same for a million. */
export async function facetsOf(
  { database, lists }: { database: Database; lists: Pick<Lists, 'facetsOf'> },
  { id }: Pick<ListRow, 'id'>,
): Promise<Static<typeof facets>> {
  const { tags, custom, events } = lists.facetsOf(id, MAX_FACETS);
  const samples = await samplesOf(
    database,
    id,
    custom.map(({ name }) => name),
  );
  const told = custom.map((facet) => ({ ...facet, samples: [...(samples.get(facet.name) ?? [])] }));
  return { tags, custom: told, events };
}

/** A few different values of each of these fields, the newest first. */
async function samplesOf(
  database: Database,
  list_id: number,
  names: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<CustomValue>>> {
  const samples = new Map(names.map((name) => [name, new Set<CustomValue>()]));
  const lacking = new Set(names);
  let before_id = Number.MAX_SAFE_INTEGER;
  for (let seen = 0; seen < SAMPLED_CONTACTS && lacking.size > 0; seen += SAMPLE_PIECE) {
    const piece = store.listCustomBefore(database.read, list_id, before_id, SAMPLE_PIECE);
    for (const { custom } of piece)
      for (const [name, value] of Object.entries(custom)) {
        if (!lacking.has(name)) continue;
        const found = samples.get(name)?.add(value);
        if (found?.size === MAX_SAMPLES) lacking.delete(name);
      }
    const last = piece.at(-1);
    if (!last || piece.length < SAMPLE_PIECE) break;
    before_id = last.id;
    await letOthers();
  }
  return samples;
}
