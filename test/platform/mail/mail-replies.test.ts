/** What is read of replies, and which of them no person wrote; hostile ones cost no more than reports do. */
import { afterAll, describe, expect, test } from 'bun:test';
import { MAX_REPORT_PARTS } from '../../../src/limits.ts';
import { answeredIds, MAX_REPLY_TEXT_BYTES, readMailReply } from '../../../src/platform/mail/mail-replies.ts';
import { createReportReader, UnreadableReport } from '../../../src/platform/mail/report-reader.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { HOSTILE } from '../../support/hostile-messages.ts';

const HEAD =
  'From: Bob <Bob@Example.org>\r\nSubject: =?utf-8?q?Re:_Gr=C3=BC=C3=9Fe?=\r\nIn-Reply-To: <a@b.c>\r\n';
const read = (message: string, charset: BufferEncoding = 'utf8') =>
  readMailReply(Buffer.from(message, charset));
const textOf = async (message: string) => (await read(message))?.text;

test('its text, whatever parts it stands in', async () => {
  expect(await read(`${HEAD}Message-ID: <r@x>\r\n\r\nYes.\r\n\r\n> no?\r\n`)).toEqual({
    answers: ['<a@b.c>'],
    digest: expect.stringMatching(/^[\w-]{43}$/),
    message_id: '<r@x>',
    from: 'Bob@example.org',
    subject: 'Re: Grüße',
    text: 'Yes.',
    is_automatic: false,
  });
  const both = `Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from('Größe 12').toString('base64')}\r\n--x\r\nContent-Type: text/html\r\n\r\n<b>other</b>\r\n--x--\r\n`;
  expect(await textOf(HEAD + both)).toBe('Größe 12');
  const html =
    '<div>Ja, <a href="https://x.example/">gern</a>!<br></div><div class="gmail_quote"><div>Am Mo., 23. Nov. 2026 um 15:04 Uhr schrieb Ann &lt;ann@x.example&gt;:<br></div><blockquote>Hallo<br>Bob</blockquote></div>';
  expect(await textOf(`${HEAD}Content-Type: text/html; charset=utf-8\r\n\r\n${html}`)).toBe('Ja, gern!');
  const forwarded = `Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee below\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nSubject: old\r\n\r\nold text\r\n--x--\r\n`;
  expect(await textOf(HEAD + forwarded)).toBe('See below');
});

test('no more than is kept, whole characters, without what no text has', async () => {
  const text =
    (await textOf(
      `${HEAD}Content-Type: text/plain; charset=utf-8\r\n\r\n\u0007x${'ü'.repeat(MAX_REPLY_TEXT_BYTES)}`,
    )) ?? '';
  expect(Buffer.byteLength(text)).toBe(MAX_REPLY_TEXT_BYTES - 1);
  expect(text).toMatch(/^xü+$/);
  const parts = `Content-Type: multipart/mixed; boundary=x\r\n\r\n${'--x\r\n\r\na\r\n'.repeat(MAX_REPORT_PARTS + 1)}--x--\r\n`;
  expect(await read(HEAD + parts)).toMatchObject({ from: 'Bob@example.org', text: '' });
});

test('In-Reply-To comes first, then References, the last first', () => {
  const head = 'References: <1@a>\r\n <2@a> <3@a>\r\nSubject: x <9@a>\r\nin-reply-to:\r\n <2@a> (of Ann)\r\n';
  expect(answeredIds(head)).toEqual(['<2@a>', '<3@a>', '<1@a>']);
  expect(
    answeredIds(`References: ${Array.from({ length: 90 }, (_, n) => `<${n}@a>`).join(' ')}\n`),
  ).toHaveLength(20);
});

test('what answers nothing or is of nobody is no reply', async () => {
  for (const message of [
    'From: bob@example.org\r\n\r\nHi',
    'In-Reply-To: <a@b.c>\r\n\r\nHi',
    'From: undisclosed:;\r\nIn-Reply-To: <a@b.c>\r\n\r\nHi',
    `${HEAD}X: ${'y'.repeat(70_000)}\r\n\r\nHi`,
    '',
  ])
    expect(await read(message)).toBeNull();
});

const AUTOMATIC: Record<string, string> = {
  'out of office by Exchange':
    'Auto-Submitted: auto-generated\r\nX-Auto-Response-Suppress: All\r\nContent-Type: text/plain\r\n',
  'vacation of Gmail': 'Precedence: bulk\r\nX-Autoreply: yes\r\nAuto-Submitted: auto-replied\r\n',
  'vacation(1)': 'Precedence: bulk\r\nAuto-Submitted: auto-replied (vacation)\r\n',
  'an old vacation(1)': 'Precedence: junk\r\n',
  'a robot of a help desk': 'X-Autorespond: 1\r\nPrecedence: auto_reply\r\n',
  'a receipt that it was read':
    'Content-Type: multipart/report; report-type=disposition-notification; boundary=x\r\n',
  'a bounce': 'Return-Path: <>\r\n',
};
test.each(Object.entries(AUTOMATIC))('automatic: %s', async (_, fields) => {
  expect(await read(`${HEAD}${fields}\r\nI am away.`)).toMatchObject({ is_automatic: true, text: '' });
});
test('a person: Auto-Submitted: no, a mailing list, a return path', async () => {
  const fields =
    'Return-Path: <bob@example.org>\r\nAuto-Submitted: No\r\nPrecedence: list\r\nList-Id: <x.y>\r\n';
  expect(await read(`${HEAD}${fields}\r\nYes.`)).toMatchObject({ is_automatic: false, text: 'Yes.' });
});

describe('a hostile reply ends soon and harmlessly, and keeps nobody waiting:', () => {
  const reader = createReportReader();
  afterAll(() => reader.stop());
  const deep = `Content-Type: text/html\r\n\r\n${'<div>'.repeat(40_000)}`;
  const quotes = `Content-Type: text/html\r\n\r\n${'<blockquote>x'.repeat(15_000)}`;
  for (const [name, text] of Object.entries({ ...HOSTILE, 'deep HTML': deep, 'quotes in quotes': quotes }))
    test(name, async () => {
      const message = Buffer.from(HEAD + text, 'latin1');
      let outcome: unknown;
      const turn_ms = await longestTurnMs(async () => {
        outcome = await reader.readReply(message).catch((error: unknown) => error);
      });
      expect(turn_ms).toBeLessThan(100);
      if (!(outcome instanceof UnreadableReport))
        expect(outcome).toSatisfy((reply) => reply === null || typeof reply === 'object');
      expect(outcome instanceof Error).toBe(false);
    });
});
