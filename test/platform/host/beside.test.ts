/** What is done beside the server: what a caller makes long is paid there, within bounds, and projects take turns. */

import { afterEach, expect, test } from 'bun:test';
import { MAKE_BODIES } from '../../../src/mail/templates/markdown.ts';
import { PREVIEW } from '../../../src/mail/templates/rendering.ts';
import { Beside, PIECES_AT_ONCE } from '../../../src/platform/host/beside.ts';
import { longestTurnMs } from '../../support/event-loop.ts';

const ENDLESS = 'onmessage = () => { for (;;); }';
const HELLO = { markdown: '# Hello', max_bytes: 1_000 };
const MADE = { ok: true, body_html: '<h1>Hello</h1>\n', body_text: 'Hello\n=====' };

let beside = new Beside(startWorker);
afterEach(() => beside.stop());

function startWorker(): Worker {
  return new Worker(new URL('../../../src/app/beside.worker.ts', import.meta.url));
}

/** Whose first threads do what is given, and whose others what they are asked for. */
function start(...first: string[]): void {
  beside = new Beside(() => {
    const next = first.shift();
    return next === undefined ? startWorker() : new Worker(URL.createObjectURL(new Blob([next])));
  }, 500);
}

const make = (project_id: number) => beside.do({ project_id, field: 'body_markdown' }, MAKE_BODIES, HELLO);
/** What it came to, as `expect(...).rejects` would hold the event loop. */
const outcomeOf = (made: Promise<unknown>): Promise<unknown> => made.catch((error: unknown) => error);

test('what takes too long is refused, nobody waits for it meanwhile, and the next piece is done', async () => {
  start(ENDLESS);
  let made: unknown[] = [];
  const turn_ms = await longestTurnMs(async () => {
    made = await Promise.all([outcomeOf(make(1)), make(1)]);
  });
  const message = 'must be shorter or simpler: it took more than 0.5 s of processor time';
  expect(made).toMatchObject([{ kind: 'invalid', errors: { body_markdown: [message] } }, MADE]);
  expect(turn_ms).toBeLessThan(100);
});

test('what a task refuses is refused by its fields, and its thread goes on', async () => {
  start();
  const template = { subject: 'x', body_html: null, body_text: '{{ a }}{{ a }}', variables: [] };
  const variables = { a: 'long' };
  const preview = beside.do({ project_id: 1, field: '_' }, PREVIEW, {
    template,
    variables,
    max_body_bytes: 7,
  });
  expect(await outcomeOf(preview)).toMatchObject({
    kind: 'invalid',
    errors: { body_text: ['must have at most 7 bytes once its placeholders are filled in'] },
  });
  expect(await make(1)).toMatchObject(MADE);
});

test('projects take turns, and one that has too much under way is told so', async () => {
  start();
  const order: number[] = [];
  const makeInTurn = async (project_id: number): Promise<void> => {
    await make(project_id);
    order.push(project_id);
  };
  const under_way = Array.from({ length: PIECES_AT_ONCE }, () => makeInTurn(1));
  expect(await outcomeOf(make(1))).toMatchObject({ kind: 'rate_limited', retry_after_s: 2 });
  await Promise.all([...under_way, makeInTurn(2)]);
  expect(order.indexOf(2)).toBeLessThan(3);
  await makeInTurn(1);
});

test('a stop ends what is done, and what waits, as something that may pass', async () => {
  start(ENDLESS);
  const pieces = [outcomeOf(make(1)), outcomeOf(make(1))];
  await Bun.sleep(50);
  beside.stop();
  for (const piece of pieces) expect(await piece).toMatchObject({ kind: 'unavailable' });
});
