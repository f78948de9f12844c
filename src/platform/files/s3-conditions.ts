/** Keys of an S3 store that several processes write, each over what it saw: by ETags and its clock. */
import type { Clock } from '../host/clock.ts';
import { newId } from '../host/ids.ts';
import { type S3Requests, type StoreAnswer, StoreFault, type StoreRequest } from './s3-requests.ts';

/** What a store calls it that a condition does not hold, or held until another write came. */
const NOT_SO = ['PreconditionFailed', 'ConditionalRequestConflict'];
/** What a store without conditional writes may call them. */
const UNKNOWN_TO_IT = ['NotImplemented', 'InvalidArgument', 'InvalidRequest', 'MethodNotAllowed'];
/** Whoever waits for one of these keys waits no longer than this for an answer to begin. */
const FIRST_BYTE_MS = 5_000;

export interface KeyState {
  text: string;
  etag: string;
  /** How long ago it was written, by the store's clock. */
  age_ms: number;
}

export class ConditionalKeys {
  constructor(
    private readonly requests: S3Requests,
    private readonly clock: Clock,
  ) {}

  /** The store's time, and the key `name` below our prefix; null where there is none. Throws StoreFault. */
  async read(name: string): Promise<{ now_ms: number; state: KeyState | null }> {
    const answer = await this.#send({ method: 'GET', key: this.#keyOf(name) });
    const text = await answer.text();
    const now_ms = timeIn(answer, 'date') ?? this.clock.now();
    if (answer.status === 404) return { now_ms, state: null };
    // Without a time it counts as new: nobody is then taken for gone.
    const written_ms = timeIn(answer, 'last-modified') ?? now_ms;
    return { now_ms, state: { text, etag: etagOf(answer), age_ms: Math.max(0, now_ms - written_ms) } };
  }

  /**
   * Writes a key that is as `seen` says: of this ETag, or absent for null. Answers its new ETag, or null
   * where it is otherwise. Throws StoreFault.
   */
  async write(name: string, text: string, seen: string | null): Promise<string | null> {
    const headers: Record<string, string> = seen === null ? { 'If-None-Match': '*' } : { 'If-Match': seen };
    const body = new TextEncoder().encode(text);
    try {
      const answer = await this.#send({ method: 'PUT', key: this.#keyOf(name), headers, body });
      await answer.text();
      return answer.status === 404 ? null : etagOf(answer);
    } catch (error) {
      if (error instanceof StoreFault && NOT_SO.includes(error.refusal ?? '')) return null;
      throw error;
    }
  }

  /** Tries on its own key whether the store obeys conditions: null, or what it does. Throws StoreFault. */
  async findFlaw(): Promise<string | null> {
    const name = `scratch-${newId(this.clock.now())}`;
    try {
      await this.write(name, 'satchel\n', null);
      if ((await this.write(name, 'satchel\n', null)) !== null) return 'it writes over what is there';
      if ((await this.write(name, 'again\n', '"0"')) !== null) return 'it writes over what has changed';
      return null;
    } catch (error) {
      if (error instanceof StoreFault && UNKNOWN_TO_IT.includes(error.refusal ?? '')) return error.reason;
      throw error;
    } finally {
      // What is left of it does no harm.
      await this.#send({ method: 'DELETE', key: this.#keyOf(name) })
        .then((answer) => answer.text())
        .catch(() => {});
    }
  }

  #send(request: StoreRequest): Promise<StoreAnswer> {
    return this.requests.send({ ...request, first_byte_ms: FIRST_BYTE_MS });
  }

  #keyOf(name: string): string {
    return `${this.requests.settings.prefix}${name}`;
  }
}

function etagOf({ headers }: StoreAnswer): string {
  return headers.get('etag') ?? '';
}

function timeIn({ headers }: StoreAnswer, name: string): number | null {
  const ms = Date.parse(headers.get(name) ?? '');
  return Number.isNaN(ms) ? null : ms;
}
