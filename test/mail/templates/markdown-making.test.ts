/** Making Markdown in a thread: what a text costs is paid there, within bounds, and projects take turns. */
import { afterEach, expect, test } from 'bun:test';
import { MARKDOWN_AT_ONCE, MarkdownMaking } from '../../../src/mail/templates/markdown-making.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';

const ENDLESS = 'onmessage = () => { for (;;); }';
const HELLO = { markdown: '# Hello', max_bytes: 1_000 };
const MADE = { ok: true, body_html: '<h1>Hello</h1>\n', body_text: 'Hello\n=====' };

let making = new MarkdownMaking();
afterEach(() => making.stop());

/** Whose first threads do what is given, and whose others make Markdown. */
function start(...first: string[]): void {
  making = new MarkdownMaking({
    cpu_ms: 500,
    startWorker() {
      const next = first.shift();
      const url = new URL('../../../src/mail/templates/markdown.worker.ts', import.meta.url);
      return new Worker(next === undefined ? url : URL.createObjectURL(new Blob([next])));
    },
  });
}

/** What it came to, as `expect(...).rejects` would hold the event loop. */
const outcomeOf = (made: Promise<unknown>): Promise<unknown> => made.catch((error: unknown) => error);

test('a text that takes too long is refused, nobody waits for it meanwhile, and the next one is made', async () => {
  start(ENDLESS);
  let made: unknown[] = [];
  const turn_ms = await longestTurnMs(async () => {
    made = await Promise.all([making.make(1, HELLO), making.make(1, HELLO)]);
  });
  const message = 'must be shorter or simpler: it took more than 0.5 s of processor time';
  expect(made).toMatchObject([{ ok: false, message }, MADE]);
  expect(turn_ms).toBeLessThan(100);
});

test('projects take turns, and one that has too many texts under way is told so', async () => {
  start();
  const order: number[] = [];
  const make = async (project_id: number): Promise<void> => {
    await making.make(project_id, HELLO);
    order.push(project_id);
  };
  const under_way = Array.from({ length: MARKDOWN_AT_ONCE }, () => make(1));
  expect(await outcomeOf(making.make(1, HELLO))).toMatchObject({ kind: 'rate_limited', retry_after_s: 2 });
  await Promise.all([...under_way, make(2)]);
  expect(order.indexOf(2)).toBeLessThan(3);
  await make(1);
});

test('a stop ends what is made, and what waits, as something that may pass', async () => {
  start(ENDLESS);
  const texts = [outcomeOf(making.make(1, HELLO)), outcomeOf(making.make(1, HELLO))];
  await Bun.sleep(50);
  making.stop();
  for (const text of texts) expect(await text).toMatchObject({ kind: 'unavailable' });
});

test('499,000 characters that are hard to make keep nobody waiting', async () => {
  const app = await startTestApp();
  const project = await makeProject(app);
  const key = await project.key({ can_read: true, can_write: true, permissions: { email_template: true } });
  const call = (path: string, body: Record<string, unknown>) =>
    app.call('POST', `/api/v1/emails/templates${path}`, { key, body });
  const template = { name: 'Hello', category: 'transactional', subject: 'Hello', body_text: 'Hello' };
  expect((await call('', template)).status).toBe(201);
  for (const piece of ['\ta\n', '|a|b|\n|-|-|\n|a|b|\n\n', 'a**b', '_a_ ']) {
    const body_markdown = piece.repeat(499_000 / piece.length);
    const turn_ms = await longestTurnMs(() => call('/hello/preview', { changes: { body_markdown } }));
    expect([piece, turn_ms < 150]).toEqual([piece, true]);
  }
  await app.stop();
});
