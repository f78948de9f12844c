/**
 * Of all Satchels that use one object store, one owns it, by a mark in the store that it renews. Whoever
 * finds another's mark in place of its own is fenced: it changes and sends nothing from then on.
 */
import { hostname } from 'node:os';
import { AppError, conflict, messageOf } from '../../errors.ts';
import { OWNER_BEAT_MS, OWNER_GONE_MS, STORE_RETRY_AFTER_S } from '../../limits.ts';
import type { Database } from '../../platform/database/database.ts';
import { writeMeta } from '../../platform/database/store.ts';
import { StoreFault } from '../../platform/files/s3-requests.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import { newHold, readHold, STORE_HOLD, STORE_OWNED } from '../../platform/files/store-hold.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { requireInstance } from './instance.ts';
import { type FoundMark, type Mark, OWNER_KEY, ownerIn, readMark } from './mark.ts';
import { type Asked, type Foreign, findForeign, leftAlone, waysOut } from './standing.ts';

export { refuseNewDatabase } from './standing.ts';

/** A stop waits no longer than this for the store to take the last mark. */
const RELEASE_DEADLINE_MS = 2_000;

/**
 * `off`: there is no store, or it ignores conditions. `unclear`: it has not answered yet. `foreign`: it holds
 * files that the database does not know, and is left alone.
 */
export type OwnershipState = 'off' | 'unclear' | 'foreign' | 'owner' | 'fenced';

export interface TakeOver {
  /** Waits until another's mark is old enough. */
  take_over: boolean;
  /** With it: takes the store from whoever has it. */
  now: boolean;
  /** Takes a store whose files the database does not know. */
  new_owner: boolean;
}

const NOTHING_ASKED: TakeOver = { take_over: false, now: false, new_owner: false };

interface OwnershipDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  object_store: S3Store | null;
  config: { data_dir: string };
  hasObjectIn: Asked['hasObjectIn'];
}

export class Ownership {
  readonly #run = crypto.randomUUID();
  #state: OwnershipState = 'off';
  #ours: Mark | null = null;
  #etag: string | null = null;
  #asked = NOTHING_ASKED;
  /** Once the store was seen to be for this database. */
  #is_known = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #beating: Promise<void> = Promise.resolve();
  #is_released = false;
  #is_unheard = false;
  #onFenced: () => void = () => {};

  /** `beat_ms`: between two renewals; tests shorten it. */
  constructor(
    private readonly deps: OwnershipDeps,
    private readonly beat_ms = OWNER_BEAT_MS,
  ) {}

  get state(): OwnershipState {
    return this.#state;
  }

  /** Keys without a row may go from the store, but not while another may own it, whose they would be. */
  get may_remove(): boolean {
    return this.#state === 'off' || this.#state === 'owner';
  }

  /** The listener is called once, when this Satchel is fenced. */
  onFenced(listener: () => void): void {
    this.#onFenced = listener;
  }

  /** Throws AppError `unavailable` where another Satchel has taken over. */
  refuseChanges(): void {
    if (this.#state !== 'fenced') return;
    throw new AppError(
      'unavailable',
      'Another Satchel has taken over: this one changes nothing any more. Ask the other one.',
      { code: 'fenced', retry_after_s: STORE_RETRY_AFTER_S },
    );
  }

  /** Explains why a store is not for this database; null where it is. Throws StoreFault. */
  async explainForeign(): Promise<string | null> {
    const store = this.deps.object_store;
    const foreign = store && (await this.#findForeign(store));
    return foreign && waysOut(store, foreign, this.deps.config.data_dir);
  }

  /** Called before each write to the store. Throws AppError `unavailable` where it is not ours. */
  async refuseForeign(): Promise<void> {
    const { object_store: store, database } = this.deps;
    if (!store || this.#is_known) return;
    const words = await this.explainForeign();
    if (words !== null)
      throw new AppError(
        'unavailable',
        'Files cannot be stored: the file store holds files that this Satchel does not know. satchel doctor says what to do.',
        {
          code: 'foreign_store',
          retry_after_s: STORE_RETRY_AFTER_S,
          cause: new Error(words),
        },
      );
    this.#is_known = true;
    // Before its first file, with which it would not be empty any more.
    await database.write((tx) => writeMeta(tx, STORE_OWNED, store.place));
  }

  /**
   * Takes the store before anything is sent or changed, and keeps it. A store that does not answer is asked
   * later. Throws AppError `conflict` where another Satchel has it, or where it holds files that the database
   * does not know.
   */
  async claim(asked: TakeOver = NOTHING_ASKED): Promise<void> {
    const { object_store: store, config } = this.deps;
    if (!store) return;
    this.#asked = asked;
    try {
      const foreign = await this.#findForeign(store);
      if (foreign && !asked.new_owner) throw conflict(waysOut(store, foreign, config.data_dir));
      if (!(await this.#begin(store, foreign !== null))) return;
      let rival = await this.#take(store);
      if (rival && asked.take_over) rival = await this.#outwait(store, rival);
      if (rival) throw conflict(refusal(store, rival, asked));
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error;
      this.#state = 'unclear';
      this.#warnUnheard(error);
    }
    this.#plan();
  }

  /** Marks the store as free. What the store does not take is left to grow old. */
  async release(): Promise<void> {
    this.#is_released = true;
    if (this.#timer) clearTimeout(this.#timer);
    const end = async (): Promise<void> => {
      await this.#beating;
      const store = this.deps.object_store;
      if (!store || !this.#ours || this.#state !== 'owner') return;
      await this.#write(store, { ...this.#ours, ended: true }, this.#etag);
    };
    await Promise.race([end().catch(() => {}), Bun.sleep(RELEASE_DEADLINE_MS)]);
  }

  /** Renews the mark, or takes the store that has answered at last. Throws StoreFault. */
  async beat(): Promise<void> {
    const store = this.deps.object_store;
    if (!store || this.#state === 'off' || this.#state === 'fenced') return;
    if (this.#state === 'unclear' || this.#state === 'foreign') {
      const foreign = await this.#findForeign(store);
      if (foreign && !this.#asked.new_owner) {
        if (this.#state === 'unclear') this.deps.logger.error(leftAlone(store, foreign));
        this.#state = 'foreign';
        return;
      }
      if (!(await this.#begin(store, foreign !== null))) return;
    }
    if (this.#state === 'owner' && this.#ours && (await this.#write(store, this.#ours, this.#etag))) return;
    const rival = await this.#take(store);
    if (rival) this.#fence(rival);
  }

  async #findForeign(store: S3Store): Promise<Foreign | null> {
    if (this.#is_known) return null;
    const { database, hasObjectIn } = this.deps;
    return findForeign(store, { read: database.read, hasObjectIn });
  }

  /** True when there is anything to own. The files of an owner before stay for a while. */
  async #begin(store: S3Store, is_foreign: boolean): Promise<boolean> {
    if (is_foreign) await this.#holdStore(null);
    const flaw = await store.conditional.findFlaw();
    if (flaw === null) return true;
    await this.#noteOwned(store);
    this.#state = 'off';
    const what =
      'the object store ignores conditional writes, so that nothing keeps two Satchels from using it';
    this.deps.logger.warn(what, { reason: flaw });
    return false;
  }

  /** Makes the mark ours. Answers that of another Satchel which stands against it. */
  async #take(store: S3Store): Promise<FoundMark | null> {
    const { data_dir } = this.deps.config;
    const instance = requireInstance(data_dir);
    for (;;) {
      const { now_ms, mark } = await readMark(store);
      if (mark && this.#standsAgainst(mark, instance)) return mark;
      const takes_over = this.#asked.take_over || (mark !== null && mark.instance !== instance);
      if (takes_over) await this.#holdStore(mark);
      const { beat = 0, since = toIso(now_ms) } = this.#ours ?? {};
      const last = Math.max(mark?.generation ?? 0, this.#ours?.generation ?? 0);
      const generation = takes_over || !mark ? last + 1 : last;
      const place = { host: hostname(), data_dir };
      const ours = { instance, run: this.#run, beat, generation, ...place, since, ended: false };
      if (await this.#write(store, ours, mark?.etag ?? null)) {
        await this.#becomeOwner(store, generation);
        return null;
      }
      // Somebody was faster; what they wrote decides.
    }
  }

  #standsAgainst(mark: FoundMark, instance: string): boolean {
    // An answer that was lost: the mark is our own after all.
    if (mark.run === this.#run) return false;
    // Once the store was ours, whoever else has it took it from us.
    if (this.#state === 'owner') return true;
    const is_alive = !mark.ended && mark.age_ms < OWNER_GONE_MS;
    return is_alive && mark.instance !== instance && !this.#asked.now;
  }

  /** Writes our mark, counted up, over what was seen; false where that has changed. */
  async #write(store: S3Store, mark: Mark, seen: string | null): Promise<boolean> {
    this.#ours = { ...mark, beat: mark.beat + 1 };
    const etag = await store.conditional.write(OWNER_KEY, JSON.stringify(this.#ours), seen);
    if (etag !== null) this.#etag = etag;
    return etag !== null;
  }

  async #becomeOwner(store: S3Store, generation: number): Promise<void> {
    if (this.#state === 'owner') return;
    await this.#noteOwned(store);
    this.#state = 'owner';
    this.#asked = NOTHING_ASKED;
    this.deps.logger.info('this Satchel owns the object store', { generation });
  }

  /** From now on the database is known to have had the store. */
  async #noteOwned({ place }: S3Store): Promise<void> {
    await this.deps.database.write((tx) => writeMeta(tx, STORE_OWNED, place));
    this.#is_known = true;
  }

  /** Files of others or of an earlier database have no row here. They stay until somebody has looked. */
  async #holdStore(before: Mark | null): Promise<void> {
    const { clock, database, logger } = this.deps;
    const now_ms = clock.now();
    const why = this.#asked.new_owner && !this.#asked.take_over ? 'new_owner' : 'taken_over';
    const until_ms = await database.write((tx) => {
      const { until_ms, value } = newHold(now_ms, why, readHold(tx, now_ms));
      writeMeta(tx, STORE_HOLD, value);
      return until_ms;
    });
    logger.warn('the object store is taken over: what has no row here is kept in it for a while', {
      before: before && ownerIn(before),
      until: toIso(until_ms),
    });
  }

  #fence(winner: Mark): void {
    this.#state = 'fenced';
    this.deps.logger.error(
      'another Satchel has taken over the object store: this one changes nothing and sends nothing any more. Stop it',
      { owner: ownerIn(winner), generation: winner.generation },
    );
    this.#onFenced();
  }

  /** Waits until a mark is old enough, unless its owner renews it. */
  async #outwait(store: S3Store, rival: FoundMark): Promise<FoundMark | null> {
    const left_ms = OWNER_GONE_MS - rival.age_ms;
    this.deps.logger.warn('waiting until the owner of the object store has been silent for long enough', {
      owner: ownerIn(rival),
      seconds: Math.ceil(left_ms / 1_000),
    });
    // The store's times are whole seconds.
    await Bun.sleep(left_ms + 1_000);
    return this.#take(store);
  }

  #plan(): void {
    if (this.#is_released || this.#state === 'off' || this.#state === 'fenced') return;
    this.#timer = setTimeout(() => {
      this.#beating = this.beat()
        .then(() => {
          if (this.#is_unheard) this.deps.logger.info('the object store answers again');
          this.#is_unheard = false;
        })
        .catch((error: unknown) => this.#warnUnheard(error))
        .finally(() => this.#plan());
    }, this.beat_ms);
  }

  #warnUnheard(error: unknown): void {
    if (this.#is_unheard) return;
    this.#is_unheard = true;
    const reason = error instanceof StoreFault ? error.reason : messageOf(error);
    const what = 'the object store does not say who owns it; until it does, two Satchels may send';
    this.deps.logger.warn(what, { reason });
  }
}

function refusal(store: S3Store, rival: FoundMark, { take_over }: TakeOver): string {
  const silent_s = Math.round(rival.age_ms / 1_000);
  const what_to_do = take_over
    ? 'It has renewed its mark meanwhile. To take over from it even so: satchel serve --take-over --now'
    : 'Stop that one first. To have this one go on in its place: satchel serve --take-over, which waits until that one has been ' +
      `silent for ${OWNER_GONE_MS / 1_000} s, or satchel serve --take-over --now`;
  return `Another Satchel owns the object store ${store.place}: ${ownerIn(rival)}, last heard of ${silent_s} s ago. ${what_to_do}.`;
}
