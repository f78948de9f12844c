/** A Satchel that may send broadcasts: that of sequences, and short ways to make and look at a broadcast. */
import { type Answer, startTestApp, type TestAppOptions } from '../../support/helpers.ts';
import { type SequenceApp, startSequenceApp } from '../sequences/setup.ts';
import { dataOf, rowsOf } from '../settings/setup.ts';

export interface BroadcastApp extends SequenceApp {
  /** Makes a draft and returns its id. */
  broadcast(list: string, fields?: Record<string, unknown>): Promise<string>;
  show(id: string): Promise<Record<string, unknown>>;
  /** POSTs to a broadcast: `send`, `pause`, ... */
  post(id: string, verb: string, body?: unknown): Promise<Answer>;
  /** Sends it and lets all that is due happen. */
  send(id: string): Promise<void>;
  /** Who had their turn, by address. */
  turns(id: string): Promise<Map<string, Record<string, unknown>>>;
  count(sql: string): number;
}

export async function startBroadcastApp(options: TestAppOptions = {}): Promise<BroadcastApp> {
  const on = await startSequenceApp(options);
  await on.template('news');
  const made: BroadcastApp = {
    ...on,
    async broadcast(list, fields = {}) {
      const body = { name: 'June', list, template: 'news', ...fields };
      return String(dataOf(await on.call('POST', '/email-broadcasts', body), 201).id);
    },
    show: async (id) => dataOf(await on.call('GET', `/email-broadcasts/${id}`)),
    post: (id, verb, body = verb === 'send' ? {} : undefined) =>
      on.call('POST', `/email-broadcasts/${id}/${verb}`, body),
    async send(id) {
      dataOf(await made.post(id, 'send'), 202);
      await on.pass();
    },
    async turns(id) {
      const rows = rowsOf(await on.call('GET', `/email-broadcasts/${id}/recipients?per_page=100`));
      return new Map(rows.map((row) => [String(row.email), row]));
    },
    count: (sql) => Number(on.app.services.database.read.$client.query<{ n: number }, []>(sql).get()?.n),
  };
  return made;
}

export { dataOf, rowsOf, startTestApp };
