/** The mark of whoever owns an object store: what it says, and how it reads to an operator. */
import type { S3Store } from '../../platform/files/s3-store.ts';
import { isPlainObject } from '../../platform/http/schema.ts';

/** The key below the store's prefix. */
export const OWNER_KEY = 'owner';

export interface Mark {
  instance: string;
  /** Of one process. */
  run: string;
  /** Counts the writes of a run, so that no two marks are alike: an ETag may be a hash of the content. */
  beat: number;
  /** Raised whenever the store goes from one Satchel to another. */
  generation: number;
  host: string;
  data_dir: string;
  /** When the run took it, by the store's clock. */
  since: string;
  /** Its owner has stopped in order. */
  ended: boolean;
}

export interface FoundMark extends Mark {
  etag: string;
  age_ms: number;
}

/** The mark as it is now, null where there is none, and the store's time. Throws StoreFault. */
export async function readMark(store: S3Store): Promise<{ now_ms: number; mark: FoundMark | null }> {
  const { now_ms, state } = await store.conditional.read(OWNER_KEY);
  return { now_ms, mark: state && { ...parseMark(state.text), etag: state.etag, age_ms: state.age_ms } };
}

/** A text under the key of the mark that is no mark of ours counts as somebody else's. */
function parseMark(text: string): Mark {
  let told: unknown;
  try {
    told = JSON.parse(text);
  } catch {}
  const fields = isPlainObject(told) ? told : {};
  const textOf = (name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');
  const countOf = (name: string): number => (Number.isSafeInteger(fields[name]) ? Number(fields[name]) : 0);
  return {
    instance: textOf('instance'),
    run: textOf('run'),
    beat: countOf('beat'),
    generation: countOf('generation'),
    host: textOf('host'),
    data_dir: textOf('data_dir'),
    since: textOf('since'),
    ended: fields.ended === true,
  };
}

/** Names the owner by a mark, as part of a sentence. */
export function ownerIn({ host, data_dir, since }: Mark): string {
  return `the Satchel on ${host || 'an unknown machine'} with the data directory ${data_dir || '?'}, since ${since || 'an unknown time'}`;
}
