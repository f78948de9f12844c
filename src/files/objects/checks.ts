/** Doctor's checks of the object store: it works, it lost nothing, it keeps nothing in vain. */
import { FINDING_EXAMPLES } from '../../limits.ts';
import type { Database } from '../../platform/database/database.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import { readHold } from '../../platform/files/store-hold.ts';
import { type Clock, MINUTE_MS, toIso } from '../../platform/host/clock.ts';
import {
  aside,
  type Finding,
  type HealthCheck,
  ok,
  problem,
  warning,
} from '../../platform/host/health-check.ts';
import { countInStore, countRemovals, isNoted, listBetween, listKnownIds, listMissing } from './store.ts';

/** Beyond it `doctor` tells how far this machine's and the store's clock differ; S3 refuses 15 minutes. */
const STORE_CLOCK_TOLERANCE_MS = 5 * 60_000;

interface StoreChecksDeps {
  database: Database;
  object_store: S3Store | null;
  clock: Clock;
  ownership: { explainForeign(): Promise<string | null> };
  /** Whether rows and keys are compared one by one. */
  is_deep: boolean;
}

const CHECK = 'object store';
/** Comes after every ULID. */
const BEYOND_ALL = '~';
/** What ends unfinished uploads by itself where we may not. */
const LIFECYCLE_RULE =
  '{"Rules":[{"ID":"satchel","Status":"Enabled","Filter":{"Prefix":"objects/"},"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1}}]}';

export function objectStoreChecks(on: StoreChecksDeps): HealthCheck[] {
  return [{ check: CHECK, run: () => checkStore(on) }];
}

/** Whether it has failed for a minute at least: one request that fails is mended by the next as a rule. */
export function storeAwayCheck({
  object_store,
  clock,
}: Pick<StoreChecksDeps, 'clock'> & { object_store: Pick<S3Store, 'place' | 'trouble'> }): HealthCheck {
  const run = (): Finding[] => {
    const { trouble } = object_store;
    if (!trouble || clock.now() - Date.parse(trouble.since) < MINUTE_MS) return [];
    const message = `${object_store.place} has failed since ${trouble.since}: ${trouble.reason}.`;
    const finding = problem(
      CHECK,
      message,
      'look at the store, SATCHEL_OBJECT_STORE and what its key may do',
    );
    return [aside('away', finding)];
  };
  return { check: CHECK, run };
}

async function checkStore(on: StoreChecksDeps): Promise<Finding[]> {
  const { database, object_store } = on;
  const count = countInStore(database.read);
  if (!object_store) {
    if (count === 0) return [];
    const message = `Objects whose bytes are in an object store: ${count}. None is set, so that nobody can fetch them.`;
    return [problem(CHECK, message, 'set SATCHEL_OBJECT_STORE and its keys as they were')];
  }
  // What is another's is left alone; the check of the owner tells of it.
  if (await on.ownership.explainForeign().catch(() => null)) return [];
  const refused = await object_store.rehearse();
  const findings = [
    ...refused.map((each) => aside(each.what, describeRefusal(object_store, each))),
    ...checkClocks(object_store),
    ...describeMissing(listMissing(database.read, FINDING_EXAMPLES + 1)),
    ...(refused.length === 0 ? await listTraces(on, object_store) : []),
    ...(refused.length === 0 && on.is_deep ? await compare(database, object_store) : []),
  ];
  const waiting = countRemovals(database.read);
  const removals = waiting === 0 ? '' : ` Keys whose bytes are yet to be removed: ${waiting}.`;
  if (refused.length === 0)
    findings.push(
      ok(CHECK, `${object_store.place} does all that is asked of it. Objects in it: ${count}.${removals}`),
    );
  return findings;
}

function describeRefusal(store: S3Store, { what, reason }: { what: string; reason: string }): Finding {
  if (what === 'listing unfinished uploads') {
    const message = `${store.place} does not let unfinished uploads be listed: ${reason}. What a crash leaves of them stays there.`;
    const rule = LIFECYCLE_RULE.replace('objects/', store.folder);
    return warning(CHECK, message, `allow it to the key, or give the bucket this lifecycle rule: ${rule}`);
  }
  if (what === 'listing') {
    const message = `${store.place} does not let its keys be listed: ${reason}. Keys without an object stay there.`;
    return warning(CHECK, message, 'allow the key to list the bucket (s3:ListBucket)');
  }
  const message = `${store.place} fails at ${what}: ${reason}.`;
  return problem(CHECK, message, 'look at the store, SATCHEL_OBJECT_STORE and what its key may do');
}

function checkClocks({ ahead_ms }: S3Store): Finding[] {
  if (ahead_ms === null || Math.abs(ahead_ms) <= STORE_CLOCK_TOLERANCE_MS) return [];
  const minutes = Math.round(Math.abs(ahead_ms) / MINUTE_MS);
  const message = `This machine's clock is ${minutes} minutes ${ahead_ms > 0 ? 'behind' : 'ahead of'} the store's. A store refuses what is signed 15 minutes off.`;
  return [
    aside('clock', problem(CHECK, message, 'timedatectl set-ntp true, on the machine whose clock is wrong')),
  ];
}

function describeMissing(ids: readonly string[]): Finding[] {
  if (ids.length === 0) return [];
  const some = ids.slice(0, FINDING_EXAMPLES).join(', ');
  const message = `The store has no bytes of objects that it should have: ${some}${ids.length > FINDING_EXAMPLES ? ', ...' : ''}.`;
  return [
    aside(
      'missing',
      problem(CHECK, message, 'bring the keys back from a copy of the bucket, or delete the objects'),
    ),
  ];
}

/** Looks for each object by the store's own list, which is in the order of ids, as the rows are read. */
async function compare(database: Database, store: S3Store): Promise<Finding[]> {
  const missing: string[] = [];
  const resized: string[] = [];
  let unnamed = 0;
  let behind = '';
  for await (const { keys } of store.listKeys()) {
    const last = keys.at(-1)?.id;
    if (last === undefined) continue;
    const sizes = new Map(keys.map(({ id, size_bytes }) => [id, size_bytes]));
    for (const { public_id, size_bytes } of listBetween(database.read, behind, last)) {
      const found = sizes.get(public_id);
      if (found === undefined) missing.push(public_id);
      else if (found !== size_bytes) resized.push(public_id);
      sizes.delete(public_id);
    }
    unnamed += sizes.size;
    behind = last;
  }
  missing.push(...listBetween(database.read, behind, BEYOND_ALL).map(({ public_id }) => public_id));
  const told = (ids: readonly string[], what: string): Finding[] =>
    ids.length === 0
      ? []
      : [
          aside(
            what,
            problem(
              CHECK,
              `Objects ${what}: ${ids.length} (${ids.slice(0, FINDING_EXAMPLES).join(', ')}${ids.length > FINDING_EXAMPLES ? ', ...' : ''}).`,
              'bring the keys back from a copy of the bucket, or delete the objects',
            ),
          ),
        ];
  return [
    ...told(missing, 'without bytes in the store'),
    ...told(resized, 'whose bytes in the store have another size'),
    aside(
      'no object',
      ok(CHECK, `Keys of no object: ${unnamed}. They are uploads under way, or go an hour or a day later.`),
    ),
  ];
}

/** After a restore or a take-over, keys without a row show what was lost, and are kept for a while. */
async function listTraces({ database, clock }: StoreChecksDeps, store: S3Store): Promise<Finding[]> {
  const hold = readHold(database.read, clock.now());
  if (!hold) return [];
  const found: string[] = [];
  let count = 0;
  for await (const { keys } of store.listKeys()) {
    const ids = keys.map(({ id }) => id);
    const known = new Set(listKnownIds(database.read, 's3', ids));
    const lost = ids.filter((id) => !known.has(id) && !isNoted(database.read, id));
    count += lost.length;
    found.push(...lost.slice(0, FINDING_EXAMPLES - found.length));
  }
  if (count === 0) return [];
  const message = `Keys of the store that no object names ${hold.words}: ${count} (${found.join(', ')}${count > found.length ? ', ...' : ''}). They are kept until ${toIso(hold.until_ms)}.`;
  return [aside('traces', warning(CHECK, message, `copy what is needed out of ${store.place} by then`))];
}
