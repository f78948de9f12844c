/**
 * Mail of apps that speak another product's API: a request is read, and made messages of, in a thread; each message is kept
 * once, and each of its recipients is a mail of the log.
 */
import type { Projects } from '../../access/projects/service.ts';
import type { Config } from '../../config.ts';
import { AppError, notFound } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import { BoundedThread, PieceFailed } from '../../platform/host/bounded-thread.ts';
import { type Clock, MINUTE_MS } from '../../platform/host/clock.ts';
import { readSmallBody } from '../../platform/http/body.ts';
import type { KeyCaller } from '../../platform/http/callers.ts';
import type { Idempotency } from '../../platform/http/idempotency.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import type { ProjectRef } from '../../platform/http/routes.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import {
  type AttachmentSource,
  type EmailRow,
  type Emails,
  emailLife,
  type NewEmail,
  notScheduled,
} from '../emails/service.ts';
import { type MessageStore, messageFile, requireSender, wholeMail } from '../whole-messages.ts';
import type { Made, Piece } from './composing.ts';
import { INVALID_ATTACHMENT } from './reading.ts';
import type { Composed, ComposedBulk, StoredFile } from './schemas.ts';

export { type MessageStore, requireSender } from '../whole-messages.ts';
export { cutAtEnd } from './mailgun-reading.ts';
export { cutAtNames, valuesInOrder } from './mailgun-recipients.ts';
export type { Bulk, BulkRecipient, Composed, ComposedBulk } from './schemas.ts';
export { findCall, insertCall } from './store.ts';

import { findCall, insertCall } from './store.ts';
import type { AppCallRow, AppSource } from './tables.ts';

/** Requests of at most so many bytes have a thread to themselves: none of them waits for a large one. */
const SMALL_BYTES = 256 * 1024;
/** Decision, as by SMTP: how long a message may take to come. */
const BODY_DEADLINE_MS = 5 * MINUTE_MS;
/** Decision: processor time for the messages of one request. */
const MAKE_MS = 5_000;
/** The refusal of a limit of the day, of the key or of a mailbox. */
export const DAILY_LIMIT = 'daily_limit';

export interface AppsDeps {
  config: Pick<Config, 'data_dir' | 'max_message_bytes' | 'max_email_body_bytes' | 'public_url'>;
  clock: Clock;
  database: Database;
  limiter: RateLimiter;
  idempotency: Idempotency;
  projects: Pick<Projects, 'requireActive'>;
  emails: Pick<Emails, 'acceptAll' | 'reschedule' | 'sendersOf' | 'takeBack'>;
  blobs: Pick<BlobStore, 'remove'>;
  internal_objects: MessageStore;
  objects: AttachmentSource & {
    withFiles<T>(
      files: readonly { public_id: string; size_bytes: number }[],
      work: (paths: ReadonlyMap<string, string>) => Promise<T>,
    ): Promise<T>;
  };
}

/** A request to send. */
export interface AppRequest {
  source: AppSource;
  path: string;
  request: Request;
  caller: KeyCaller;
  idempotency_key: string | null;
  /** Throws where the caller has lost access meanwhile. */
  acceptAgain(): KeyCaller;
  /** A picture that tells of an opening, and the id of the mail that it is of. */
  picture?: Piece['picture'];
  /** Told of each message, in the transaction that accepts its mails. */
  onAccepted?(tx: Tx, message: Composed, email_ids: readonly string[]): void;
  /** Takes a call that has a mail for each recipient. Where it throws, the files of the mails go. */
  takeBulk?(bulk: ComposedBulk, caller: KeyCaller): Promise<void>;
}

export class Apps {
  readonly #small: ComposingThread;
  readonly #large: ComposingThread;

  constructor(
    private readonly deps: AppsDeps,
    cpu_ms = MAKE_MS,
  ) {
    this.#small = newThread(cpu_ms);
    this.#large = newThread(cpu_ms);
  }

  /**
   * Takes a request to send: all of its messages or none, each recipient of which is a mail. Returns the id of each
   * message's first mail. Throws AppError `too_large`, `invalid` with the code of what is wrong, `rate_limited`,
   * `conflict` for an Idempotency-Key of another request, and what accepting a mail throws.
   */
  take(asked: AppRequest): Promise<string[]> {
    const { limiter } = this.deps;
    const length = asked.request.headers.get('content-length');
    const is_small = length !== null && Number(length) <= SMALL_BYTES;
    const work = () => this.#take(asked, is_small ? this.#small : this.#large);
    // Bodies are held in memory.
    return is_small ? work() : limiter.atOnce(`key:${asked.caller.key_id}`, work);
  }

  async #take(asked: AppRequest, thread: ComposingThread): Promise<string[]> {
    const { config, clock, projects, blobs } = this.deps;
    const { source, path, request } = asked;
    const body = await readSmallBody(request, config.max_message_bytes, BODY_DEADLINE_MS);
    const caller = asked.acceptAgain();
    projects.requireActive(caller.project_id);
    const content_type = request.headers.get('content-type') ?? '';
    const { max_email_body_bytes: max_body_bytes } = config;
    const { picture = null } = asked;
    const sent = { source, path, content_type, body, now_ms: clock.now(), max_body_bytes, picture };
    const made = await this.#compose({ ...sent, objects: null }, caller.project_id, thread);
    if ('bulk' in made) return this.#takeBulk(asked, made.bulk);
    const { messages, hash } = made;
    try {
      const { ids, is_kept } = await this.#keep(asked, { messages, hash });
      if (!is_kept) await removeAll(blobs, messages);
      return ids;
    } catch (error) {
      await removeAll(blobs, messages);
      throw error;
    }
  }

  async #takeBulk({ takeBulk, acceptAgain }: AppRequest, bulk: ComposedBulk): Promise<string[]> {
    try {
      await takeBulk?.(bulk, acceptAgain());
      return [];
    } catch (error) {
      await removeAll(this.deps.blobs, bulk.files);
      throw error;
    }
  }

  async #compose(
    piece: Piece,
    project_id: number,
    thread: ComposingThread,
  ): Promise<Exclude<Made, { wanted: unknown } | { refusal: unknown }>> {
    const made = await this.#make(piece, thread);
    if (!('wanted' in made)) return made;
    const objects = this.#find(project_id, made.wanted);
    const again = await this.deps.objects.withFiles(
      objects.map(({ object }) => object),
      (paths) => this.#make({ ...piece, objects: filesOf(objects, paths) }, this.#large),
    );
    if ('wanted' in again) throw new AppError('internal', 'The objects that a message wants were not taken.');
    return again;
  }

  /** Throws AppError `invalid` with the code of what is wrong. */
  async #make(piece: Piece, thread: ComposingThread): Promise<Exclude<Made, { refusal: unknown }>> {
    const { data_dir } = this.deps.config;
    const made = await thread.do({ data_dir, piece }).catch((error: unknown) => {
      if (!(error instanceof PieceFailed)) throw error;
      throw new AppError('invalid', `The message could not be made: ${error.message}`, { cause: error });
    });
    if ('refusal' in made) throw new AppError('invalid', made.refusal.message, { code: made.refusal.code });
    return made;
  }

  /** The objects of the project that a request names by their id or their URL. */
  #find(project_id: number, named: readonly string[]) {
    const { config, database, objects } = this.deps;
    const idOf = (name: string): string =>
      name.replace(`${config.public_url}/api/v1/objects/`, '').toUpperCase();
    const found = objects.findMany(database.read, project_id, named.map(idOf));
    const all = named.map((name) => {
      const object = found.find(({ public_id }) => public_id === idOf(name));
      if (!object)
        throw attachmentRefused(
          `An attachment's path must be the URL or the id of a stored object of this project, such as ${config.public_url}/api/v1/objects/ID: nothing else is fetched.`,
        );
      return { name, object };
    });
    const most = config.max_message_bytes;
    if (found.reduce((sum, { size_bytes }) => sum + size_bytes, 0) > most)
      throw attachmentRefused(`Attachments may have ${most} bytes at most, all together.`);
    return all;
  }

  #keep(
    { source, caller, idempotency_key: key, acceptAgain, onAccepted }: AppRequest,
    { messages, hash }: { messages: Composed[]; hash: string },
  ): Promise<{ ids: string[]; is_kept: boolean }> {
    const { idempotency, emails, internal_objects } = this.deps;
    const { project_id } = caller;
    const request = { project_id, caller: `key:${caller.key_id}`, key, acceptAgain };
    return idempotency.run(request, async (claim) => {
      const { kept, keep } = claim(hash);
      if (kept) return { ids: idsOf(kept.value), is_kept: false };
      for (const { from } of messages) requireSender(emails, { project_id, source, from: from.address });
      let ids: string[] = [];
      await internal_objects.keep(
        messages.map((message) => messageFile(message, caller)),
        (tx) => {
          ids = this.#accept(tx, messages, { source, caller, ...(onAccepted && { onAccepted }) });
          keep(tx, { status: 200, value: { ids } });
        },
      );
      return { ids, is_kept: true };
    });
  }

  #accept(
    tx: Tx,
    messages: readonly Composed[],
    by: Pick<AppRequest, 'source' | 'caller' | 'onAccepted'>,
  ): string[] {
    const created_at = this.deps.clock.now();
    const { project_id } = by.caller;
    for (const { id, parties, extra } of messages)
      insertCall(tx, { id, project_id, source: by.source, parties, extra, created_at });
    const mails = messages.map((message) => mailsOf(message, by));
    const accepted = limited(() => this.deps.emails.acceptAll(tx, mails.flat(), (_index, work) => work()));
    let first = 0;
    return messages.map((message, index) => {
      const ids = accepted.slice(first, first + (mails[index]?.length ?? 0)).map(({ id }) => id);
      first += ids.length;
      by.onAccepted?.(tx, message, ids);
      return ids[0] ?? '';
    });
  }

  /** What was sent in the call that a mail came with; null for other mail. Throws AppError `not_found`. */
  callOf(project: ProjectRef, id: string): AppCallRow | null {
    const { read } = this.deps.database;
    const { call_id } = this.#mailsOf(read, project, id)[0];
    return call_id === null ? null : findCall(read, call_id);
  }

  /** Cancels all mails of a mail's call that are still scheduled. Throws AppError `not_found`, and `conflict` where none is. */
  async cancel(project: ProjectRef, id: string): Promise<void> {
    const { database, emails, objects } = this.deps;
    const mails = await database.write((tx) => {
      const scheduled = this.#scheduledOf(tx, project, id);
      for (const mail of scheduled) emails.takeBack(tx, mail);
      return scheduled;
    });
    const files = mails.flatMap(({ attachments }) => attachments.map(({ public_id }) => public_id));
    await objects.releaseBytes(files);
  }

  /** As `cancel`, has them come at another moment. Throws AppError `invalid` for one that is over, too, and `rate_limited`. */
  async reschedule(project: ProjectRef, id: string, scheduled_at: number): Promise<void> {
    await this.deps.database.write((tx) =>
      limited(() => this.deps.emails.reschedule(tx, this.#scheduledOf(tx, project, id), scheduled_at)),
    );
  }

  #scheduledOf(tx: Tx, project: ProjectRef, id: string): EmailRow[] {
    const mails = this.#mailsOf(tx, project, id);
    const scheduled = mails.filter(({ status }) => status === 'scheduled');
    if (scheduled.length === 0) throw notScheduled(mails[0]);
    return scheduled;
  }

  /** A mail, and the others of its call. */
  #mailsOf(tx: Tx, project: ProjectRef, id: string): [EmailRow, ...EmailRow[]] {
    const mail = emailLife.find(tx, id.toUpperCase());
    if (mail?.project_id !== project.id) throw notFound('Email');
    const of_call = mail.call_id === null ? [] : emailLife.listOfCall(tx, mail.call_id);
    return [mail, ...of_call.filter((other) => other.id !== mail.id)];
  }

  stop(): void {
    this.#small.stop();
    this.#large.stop();
  }
}

/** Throws what the work does, and for a limit of the day AppError `rate_limited` with its code. */
function limited<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'rate_limited') throw error;
    const { message, retry_after_s = 0 } = error;
    throw new AppError('rate_limited', message, { code: DAILY_LIMIT, retry_after_s });
  }
}

type ComposingThread = ReturnType<typeof newThread>;

function newThread(cpu_ms: number) {
  return new BoundedThread<{ data_dir: string; piece: Piece }, Made>({
    startWorker: () => new Worker(new URL('./apps.worker.ts', import.meta.url)),
    cpu_ms,
  });
}

function attachmentRefused(message: string): AppError {
  return new AppError('invalid', message, { code: INVALID_ATTACHMENT });
}

function filesOf(
  objects: readonly {
    name: string;
    object: { public_id: string; original_filename: string; mime_type: string; size_bytes: number };
  }[],
  paths: ReadonlyMap<string, string>,
): Record<string, StoredFile> {
  return Object.fromEntries(
    objects.map(({ name, object: { public_id, original_filename: filename, mime_type, size_bytes } }) => [
      name,
      { path: paths.get(public_id) ?? '', filename, mime_type, size_bytes },
    ]),
  );
}

async function removeAll(blobs: AppsDeps['blobs'], files: readonly { id: string }[]): Promise<void> {
  for (const { id } of files) await blobs.remove(id);
}

function idsOf(value: unknown): string[] {
  const ids = isPlainObject(value) && Array.isArray(value.ids) ? value.ids : [];
  return ids.map(String);
}

/** The mails that a message makes, one for each recipient. */
function mailsOf(
  message: Composed,
  { source, caller }: { source: AppSource; caller: KeyCaller },
): NewEmail[] {
  const { id: call_id, recipients, from, reply_to, subject, scheduled_at } = message;
  const sender = { from: from.address, from_name: from.name, reply_to: reply_to[0]?.address ?? null };
  const mail = { ...sender, source, subject, scheduled_at, call_id };
  // Its only one may have an id that its content names.
  const named = message.email_id === undefined ? {} : { id: message.email_id };
  const is_test = caller.is_test || message.is_test === true;
  return recipients.map(({ address: to, name: to_name }) => ({
    ...wholeMail({ ...mail, to, to_name }, message, { ...caller, is_test }),
    ...named,
  }));
}
