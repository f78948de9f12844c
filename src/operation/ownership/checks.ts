/** What doctor asks of the ownership of the object store: whose it is, and whether that can be told. */
import { OWNER_GONE_MS } from '../../limits.ts';
import { StoreFault } from '../../platform/files/s3-requests.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import { isServed } from '../../platform/host/directory-lock.ts';
import { type Finding, type HealthCheck, ok, problem, warning } from '../../platform/host/health-check.ts';
import { readInstance } from './instance.ts';
import { type FoundMark, ownerIn, readMark } from './mark.ts';
import type { Ownership } from './service.ts';

const CHECK = 'store owner';

export function ownershipChecks({
  object_store,
  ownership,
  config: { data_dir },
}: {
  object_store: S3Store | null;
  ownership: Ownership;
  config: { data_dir: string };
}): HealthCheck[] {
  return object_store ? [{ check: CHECK, run: () => checkOwner(object_store, ownership, data_dir) }] : [];
}

async function checkOwner(store: S3Store, ownership: Ownership, data_dir: string): Promise<Finding[]> {
  try {
    const foreign = await ownership.explainForeign();
    if (foreign !== null)
      return [problem(CHECK, foreign, 'do one of these; nothing can be uploaded until then')];
    const flaw = await store.conditional.findFlaw();
    if (flaw !== null) {
      const message = `${store.place} ignores conditional writes (${flaw}), so that nothing keeps a second Satchel from using it.`;
      return [warning(CHECK, message, 'see to it that one Satchel alone is set to use it')];
    }
    const { mark } = await readMark(store);
    return mark ? [describe(mark, data_dir)] : [];
  } catch (error) {
    // A store that is away is told of by the check of the store itself.
    if (error instanceof StoreFault) return [];
    throw error;
  }
}

function describe(mark: FoundMark, data_dir: string): Finding {
  if (mark.instance === readInstance(data_dir)) {
    const since = mark.ended ? 'had it until it was stopped' : `has had it since ${mark.since}`;
    return ok(CHECK, `This Satchel ${since} (generation ${mark.generation}).`);
  }
  const owner = `${ownerIn(mark)} (generation ${mark.generation})`;
  if (isServed(data_dir)) {
    const message = `The object store was taken over by ${owner}. This server answers whoever reads; it changes and sends nothing any more.`;
    return problem(
      CHECK,
      message,
      'stop this server; or, to go on here and not there: satchel serve --take-over --now',
    );
  }
  if (mark.ended || mark.age_ms >= OWNER_GONE_MS)
    return ok(CHECK, `The last owner of the object store, gone since, was ${owner}.`);
  const message = `The object store is owned by ${owner}: this data directory is not served beside it.`;
  return warning(CHECK, message, 'to go on here and not there: satchel serve --take-over --now');
}
