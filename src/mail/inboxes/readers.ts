/** The readers of all inboxes: one for each, begun and ended as commands set and take away inboxes beside the server. */
import { messageOf } from '../../errors.ts';
import { INBOX_LOOK_EVERY_MS } from '../../limits.ts';
import { InboxReader, type ReaderDeps } from './reader.ts';

/** At a stop the transaction of a message is waited for, and no network. */
const STOP_INBOXES_DEADLINE_MS = 2_000;

export class InboxReaders<Arrival> {
  /** By the version of its inbox. */
  readonly #readers = new Map<string, { reader: InboxReader<Arrival>; ended: Promise<void> }>();
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(private readonly deps: ReaderDeps<Arrival>) {}

  start(): void {
    // A wake-up that is lost costs a minute.
    this.#timer = setInterval(() => this.refresh(), INBOX_LOOK_EVERY_MS);
    this.refresh();
  }

  /** Takes up what changed of the inboxes. */
  refresh(): void {
    if (!this.#timer) return;
    try {
      const rows = this.deps.inboxes.listRows();
      const versions = new Set(rows.map(({ version }) => version));
      for (const [version, { reader }] of this.#readers) if (!versions.has(version)) reader.stop();
      for (const row of rows) {
        if (this.#readers.has(row.version)) continue;
        const reader = new InboxReader(row, this.deps);
        const ended = reader.run().finally(() => this.#readers.delete(row.version));
        this.#readers.set(row.version, { reader, ended });
      }
    } catch (error) {
      this.deps.logger.error('the inboxes could not be listed', { error: messageOf(error) });
    }
  }

  /** Resolves once nobody reads any more, and after a while at the latest. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#timer = null;
    const ended = [...this.#readers.values()].map(({ reader, ended: end }) => {
      reader.stop();
      return end;
    });
    if (ended.length > 0) await Promise.race([Promise.all(ended), Bun.sleep(STOP_INBOXES_DEADLINE_MS)]);
  }
}
